# SPDX-License-Identifier: Apache-2.0
"""Finds the agent's package: installed beside this one, or in its folder in a checkout."""

from __future__ import annotations

import importlib.util
import os
import sys


def find_agent() -> None:
    """Makes `gapless_agent` importable."""
    if "gapless_agent" not in sys.modules and importlib.util.find_spec("gapless_agent") is None:
        sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent"))
