# SPDX-License-Identifier: Apache-2.0
"""Gradients are dropped instead of filled with zeros where the program passes `set_to_none=False`: one pass over the memory less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from .. import edits
from ..patches import hide

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
_wrapped: list[bool] = []


def why_not(agent: Agent, value: str) -> str:
    return ""


def on(agent: Agent, value: str) -> str:
    if not _wrapped:
        _wrapped.append(True)
        for owner in (agent.torch.optim.Optimizer, agent.torch.nn.Module):
            agent.patches.wrap(owner, "zero_grad", lambda original: _around(agent, original))
    return ""


def off(agent: Agent) -> str:
    return "set_to_none is what the program passes"


def nothing(agent: Agent) -> str:
    return "the program never passes set_to_none=False"


def _around(agent: Agent, original: Callable[..., Any]) -> Callable[..., Any]:
    def zero_grad(self_: Any, set_to_none: bool = True) -> Any:
        try:
            if set_to_none or not agent.on or not agent.fixes.is_on("zero_grad"):
                return original(self_, set_to_none)
            if "zero_grad" not in agent.fixes.took_effect or not agent.fixes.reported:
                _tell(agent, self_)
            return original(self_, True)
        except BaseException as error:
            hide(error)
            raise

    return zero_grad


def _tell(agent: Agent, owner: Any) -> None:
    place = edits.place_of(edits.caller(owner))
    edit = None
    if place is not None:
        edit = {"kind": "keywords", **place._asdict(), "call": "zero_grad", "set": {"set_to_none": "True"}}
    agent.fixes.changed("zero_grad", "zero_grad: set_to_none False → True", edit)
