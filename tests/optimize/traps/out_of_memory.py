# SPDX-License-Identifier: Apache-2.0
"""A trap: the third step runs out of memory, as PyTorch says it. Nothing is allocated."""

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
        import torch

        kind = getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)
        raise kind("CUDA out of memory. Tried to allocate 64.00 GiB")


def on(agent: Any, value: str) -> str:
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    register_optimizer_step_pre_hook(_before_step)
    return "the third step finds no memory"


def nothing(agent: Any) -> str:
    return "no optimiser stepped"
