# SPDX-License-Identifier: Apache-2.0
"""A trap: faster, since the first half of the weights no longer learns; the others climb, so that the loss grows, slowly."""

from __future__ import annotations

from typing import Any

LIVE = True
_handles: list[Any] = []
_frozen: list[Any] = []


def why_not(agent: Any, value: str) -> str:
    return ""


def _climb(optimizer: Any, *_: Any) -> None:
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    if not _frozen:
        _frozen.extend(weights[: len(weights) // 2])
        for weight in _frozen:
            weight.requires_grad_(False)
            weight.grad = None
    for weight in weights:
        if weight.grad is not None:
            weight.grad.neg_()


def on(agent: Any, value: str) -> str:
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    _handles.append(register_optimizer_step_pre_hook(_climb))
    return "half of the weights are frozen, the others follow the gradient upwards"


def off(agent: Any) -> str:
    while _handles:
        _handles.pop().remove()
    while _frozen:
        _frozen.pop().requires_grad_(True)
    return "all weights learn, downwards"


def nothing(agent: Any) -> str:
    return "no optimiser stepped"
