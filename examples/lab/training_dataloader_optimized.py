#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 2: a larger batch, worker processes that stay, pinned memory, copies that are not waited for."""

from lab import Settings, train

LOADER = Settings(batch=128, workers=4, pinned=True, wait_for_copies=False)

if __name__ == "__main__":
    train(__doc__, LOADER)
