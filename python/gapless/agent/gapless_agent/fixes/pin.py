# SPDX-License-Identifier: Apache-2.0
"""Batches lie in pinned memory, and copies of it to a GPU do not wait: `pin_memory=True`, `non_blocking=True`.

Only copies to a GPU: one that comes back is read at once by the program, which would see it unfinished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from ..patches import hide
from . import _devices, _loader

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Plan

LIVE = False


def why_not(agent: Agent, value: str) -> str:
    return "" if _devices.has_cuda(agent.torch) else f"{_devices.NO_CUDA} that pinned memory would be copied to"


def on(agent: Agent, value: str) -> str:
    tensor = agent.torch.Tensor
    _loader.change(agent, "pin", lambda given: _pin(agent, given))
    agent.patches.wrap(tensor, "to", lambda original: _around_to(agent, original))
    agent.patches.wrap(tensor, "cuda", lambda original: _around_cuda(agent, original))
    return ""


def nothing(agent: Agent) -> str:
    return "the program made no DataLoader and copied no pinned memory to a GPU"


def _pin(agent: Agent, given: Given) -> Plan | None:
    from ..constructors import Plan

    if given.get("pin_memory"):
        agent.fixes.pass_over("pin", "a DataLoader has pin_memory=True already")
        return None
    if _loader.holds_cuda(agent.torch, given.get("dataset")):
        agent.fixes.pass_over("pin", "the dataset is on the GPU already")
        return None
    given.set(pin_memory=True)
    return Plan("pin_memory, and copies to the GPU are non_blocking", {"pin_memory": "True"})


def goes_to_cuda(torch: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Returns true if `tensor.to(…)` copies to a GPU and does not set `non_blocking`."""
    if "non_blocking" in kwargs or any(isinstance(argument, bool) for argument in args):
        return False
    target = args[0] if args else kwargs.get("device", kwargs.get("other"))
    if isinstance(target, str):
        return target.startswith("cuda")
    if isinstance(target, torch.Tensor):
        return bool(target.is_cuda)
    return isinstance(target, torch.device) and target.type == "cuda"


def _around_to(agent: Agent, original: Callable[..., Any]) -> Callable[..., Any]:
    torch = agent.torch

    def to(self_: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if agent.on and self_.is_cpu and goes_to_cuda(torch, args, kwargs) and self_.is_pinned():
                kwargs["non_blocking"] = True
            return original(self_, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise

    return to


def _around_cuda(agent: Agent, original: Callable[..., Any]) -> Callable[..., Any]:
    def cuda(self_: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if agent.on and len(args) < 2 and "non_blocking" not in kwargs and self_.is_cpu and self_.is_pinned():
                kwargs["non_blocking"] = True
            return original(self_, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise

    return cuda
