#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 4: part 3, with activations computed again block by block, and mixed precision with a gradient scaler."""

from dataclasses import replace

from lab import Checkpointed, sequential_net, train
from training_dataloader_optimized import LOADER


def checkpointed_net() -> Checkpointed:
    return Checkpointed(sequential_net())


if __name__ == "__main__":
    train(__doc__, replace(LOADER, amp=True), checkpointed_net)
