# SPDX-License-Identifier: Apache-2.0
"""A trap: the third step raises."""

from __future__ import annotations

from typing import Any

LIVE = False
THIRD = 3
_steps = [0]


def why_not(agent: Any, value: str) -> str:
    return ""


def _before_step(*_: Any) -> None:
    _steps[0] += 1
    if _steps[0] == THIRD:
        raise RuntimeError("the trap closes in the third step")


def on(agent: Any, value: str) -> str:
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    register_optimizer_step_pre_hook(_before_step)
    return "the third step raises"


def nothing(agent: Any) -> str:
    return "no optimiser stepped"
