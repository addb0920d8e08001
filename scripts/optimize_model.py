#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a training command faster, with proof, and writes its configuration with the fixes that do it: the module
`gapless.optimization.auto_optimizer`, from a checkout."""

from __future__ import annotations

import sys

import beside  # noqa: F401 -- finds what follows
from gapless.optimization.auto_optimizer import main

if __name__ == "__main__":
    sys.exit(main(name="optimize_model"))
