#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 6: everything together; nothing is waited for, and numbers are read at the end. --accumulate 2 where memory is short."""

from lab import Settings, sequential_net, train

FINAL = Settings(
    batch=256, workers=8, pinned=True, prefetch=2, amp=True, wait_for_copies=False, wait_for_device=False, read_every_step=False
)  # fmt: skip

if __name__ == "__main__":
    train(__doc__, FINAL, sequential_net)
