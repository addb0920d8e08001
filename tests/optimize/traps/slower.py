# SPDX-License-Identifier: Apache-2.0
"""A trap: every step waits a third of what it took."""

from __future__ import annotations

import time
from typing import Any

LIVE = True
_handles: list[Any] = []
_last = [0.0]


def why_not(agent: Any, value: str) -> str:
    return ""


def _after(*_: Any) -> None:
    now = time.perf_counter()
    if _last[0]:
        time.sleep((now - _last[0]) / 3)
    _last[0] = time.perf_counter()


def on(agent: Any, value: str) -> str:
    from torch.optim.optimizer import register_optimizer_step_post_hook

    _last[0] = 0.0
    _handles.append(register_optimizer_step_post_hook(_after))
    return "each step waits a third of its time"


def off(agent: Any) -> str:
    while _handles:
        _handles.pop().remove()
    return "steps wait no longer"


def nothing(agent: Any) -> str:
    return "no optimiser stepped"
