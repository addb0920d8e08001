#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 3: part 2, and the network as nn.Sequential blocks: convolution, normalisation and rectification together."""

from lab import sequential_net, train
from training_dataloader_optimized import LOADER

if __name__ == "__main__":
    train(__doc__, LOADER, sequential_net)
