# SPDX-License-Identifier: Apache-2.0
"""Finds out if an optimiser is in the middle of its step, from the calls under way."""

from __future__ import annotations

import sys
from typing import Any


def is_stepping(optimizer: Any, times: int = 1) -> bool:
    """Returns true if at least `times` calls of the optimiser's step are under way."""
    frame, found = sys._getframe(1), 0
    while frame is not None:
        code = frame.f_code
        if code.co_name == "wrapper" and code.co_filename.endswith("optimizer.py"):
            found += frame.f_locals.get("self") is optimizer
        frame = frame.f_back  # type: ignore[assignment]
    return found >= times
