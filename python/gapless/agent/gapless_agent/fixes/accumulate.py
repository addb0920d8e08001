# SPDX-License-Identifier: Apache-2.0
"""The optimiser steps on the mean gradient of K iterations instead of after each: another training, with larger batches.

`step` and `zero_grad` of the first K − 1 iterations do nothing; what is left when the program ends is not stepped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from ..patches import hide
from ._devices import number

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = False
_calls: dict[int, int] = {}  # by optimiser: how often the program asked it to step
_wrapped: set[Any] = set()


def why_not(agent: Agent, value: str) -> str:
    return "" if number(value, 2) else f"{value!r} is no number of iterations of 2 or more"


def on(agent: Agent, value: str) -> str:
    every, torch = int(value), agent.torch
    agent.models.optimizers.when_made.append(lambda: _made(agent, every))
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        agent.patches.wrap(owner, "zero_grad", lambda original: _around_zero(agent, every, original))
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
    agent.patches.wrap(scaler, "unscale_", lambda original: _around_unscale(agent, original))
    return ""


def nothing(agent: Agent) -> str:
    return "no optimiser stepped"


def _made(agent: Agent, every: int) -> None:
    optimizer = list(agent.models.optimizers.alive.values())[-1]()
    kind = type(optimizer)
    if kind not in _wrapped:
        _wrapped.add(kind)
        agent.patches.wrap(kind, "step", lambda original: _around_step(agent, every, original))


def _amid(every: int) -> bool:
    return any(count % every for count in _calls.values())


def _around_step(agent: Agent, every: int, original: Callable[..., Any]) -> Callable[..., Any]:
    def step(self_: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if not agent.on or not agent.fixes.is_on("accumulate"):
                return original(self_, *args, **kwargs)
            if args or kwargs:  # a closure computes and steps in one: there is nothing to put off
                agent.fixes.pass_over("accumulate", "the program passes a closure to step")
                return original(self_, *args, **kwargs)
            count = _calls[id(self_)] = _calls.get(id(self_), 0) + 1
            if count % every:
                return None
            _mean(agent.torch, self_, every)
            agent.fixes.changed(
                "accumulate", f"{type(self_).__name__} steps every {every} iterations, on the mean gradient"
            )
            return original(self_, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise

    return step


def _mean(torch: Any, optimizer: Any, every: int) -> None:
    with torch.no_grad():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.div_(every)


def _around_zero(agent: Agent, every: int, original: Callable[..., Any]) -> Callable[..., Any]:
    def zero_grad(self_: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if agent.on and agent.fixes.is_on("accumulate") and _amid(every):
                return None
            return original(self_, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise

    return zero_grad


def _around_unscale(agent: Agent, original: Callable[..., Any]) -> Callable[..., Any]:
    """Refuses the fix when the program unscales: unscaled gradients must not be added to scaled ones."""

    def unscale_(self_: Any, *args: Any, **kwargs: Any) -> Any:
        if agent.fixes.is_on("accumulate") and self_.is_enabled():
            _calls.clear()
            agent.fixes.refuse("accumulate", "the program scales its loss with a GradScaler")
        return original(self_, *args, **kwargs)

    return unscale_
