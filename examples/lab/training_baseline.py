#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, the start: no workers, pageable memory, the device waited for twice a step, two numbers read in every step."""

from lab import Settings, train

if __name__ == "__main__":
    train(__doc__, Settings())
