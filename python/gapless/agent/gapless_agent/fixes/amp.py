# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: the model's forward pass runs under autocast in bf16, or in fp16 with `amp=fp16`, and returns float32.

The backward pass follows the types of the forward pass. With fp16 the gradients start from a loss that is scaled, and are scaled back
as soon as they are there, so that a program that clips or reads them sees what it expects; a step whose gradients are not finite is
left out, as GradScaler does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from .. import edits
from ..layers import Layer, Root
from . import _devices
from ._scaling import Scaling
from ._values import mapped

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
_scaling: list[Scaling] = []
_seen: dict[str, bool] = {"wrapped": False, "scaler": False, "autocast": False, "ours": False}


def _type(torch: Any, value: str) -> Any:
    return {"": torch.bfloat16, "bf16": torch.bfloat16, "fp16": torch.float16}.get(value)


def why_not(agent: Agent, value: str) -> str:
    if _type(agent.torch, value) is None:
        return f"{value!r} is neither bf16 nor fp16"
    return "the program scales its loss with a GradScaler" if _seen["scaler"] else ""


def on(agent: Agent, value: str) -> str:
    _watch(agent)
    dtype = _type(agent.torch, value)
    if dtype is agent.torch.float16:
        if not _scaling:
            _scaling.append(Scaling(agent, "amp"))
        _scaling[0].on = True
    agent.models.add(Mixed(agent, "amp", dtype))
    return ""


def off(agent: Agent) -> str:
    agent.models.remove("amp")
    for scaling in _scaling:
        scaling.on = False
    return "the model computes in the types of its parameters"


def nothing(agent: Agent) -> str:
    return agent.models.nothing()


def _watch(agent: Agent) -> None:
    """Hooks GradScaler and autocast to detect mixed precision in the program."""
    if _seen["wrapped"]:
        return
    _seen["wrapped"] = True
    torch = agent.torch
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
    agent.patches.wrap(scaler, "scale", lambda original: _around_scale(agent, original))
    agent.patches.wrap(torch.autocast, "__enter__", _around_enter)


def _around_scale(agent: Agent, original: Callable[..., Any]) -> Callable[..., Any]:
    def scale(self_: Any, *args: Any, **kwargs: Any) -> Any:
        if self_.is_enabled() and not _seen["scaler"]:
            _seen["scaler"] = True
            if agent.fixes.is_on("amp"):
                agent.fixes.refuse("amp", "the program scales its loss with a GradScaler")
                off(agent)
        return original(self_, *args, **kwargs)

    return scale


def _around_enter(original: Callable[..., Any]) -> Callable[..., Any]:
    def __enter__(self_: Any) -> Any:
        if not _seen["ours"]:
            _seen["autocast"] = True
        return original(self_)

    return __enter__


class Mixed(Layer):
    def __init__(self, agent: Agent, fix: str, dtype: Any) -> None:
        super().__init__(agent, fix)
        self.dtype = dtype
        self.devices: dict[int, str] = {}
        self.returned_one: dict[int, bool] = {}  # the model returns a tensor, not several

    def found(self, root: Root, module: Any) -> str:
        torch = self.agent.torch
        device = _devices.kind_of(module)
        if any(parameter.dtype in (torch.float16, torch.bfloat16) for parameter in module.parameters()):
            return f"{type(module).__name__} has parameters of 16 bits already"
        if self.dtype is torch.float16 and device == "cpu" and not hasattr(torch.amp, "GradScaler"):
            return f"torch {torch.__version__} computes in bf16 only without a GPU"
        if _autocasts(torch, device):
            return "the program uses autocast itself"
        self.devices[id(module)] = device
        _seen["autocast"] = False
        return ""

    def context(self, module: Any) -> Any:
        device = self.devices[id(module)]
        if _autocasts(self.agent.torch, device):
            return None
        _seen["ours"] = True
        try:
            return _Entered(self.agent.torch.autocast(device, dtype=self.dtype))
        finally:
            _seen["ours"] = False

    def after(self, module: Any, result: Any) -> Any:
        torch, dtype = self.agent.torch, self.dtype
        if id(module) not in self.returned_one:
            self.returned_one[id(module)] = isinstance(result, torch.Tensor)
        return mapped(
            result, lambda item: item.float() if isinstance(item, torch.Tensor) and item.dtype is dtype else item
        )

    def works(self, root: Root, module: Any) -> None:
        if _seen["autocast"]:
            raise RuntimeError("the program uses autocast itself")
        name, device = str(self.dtype).rpartition(".")[2], self.devices[id(module)]
        scaled = " and scaled losses" if self.dtype is self.agent.torch.float16 else ""
        what = f"{type(module).__name__} runs under autocast in {name}{scaled}"
        place = root.call_place if not scaled else None  # a scaled loss takes more than one place
        if place is not None and edits.mentions(place, "backward"):
            place = None  # autocast is for the forward pass
        head = f'with torch.autocast("{device}", dtype=torch.{name}):'
        self.agent.fixes.changed("amp", what, edits.lines("with", place, head, imports=("import torch",)))
        result = edits.result_of(place, root.call_name) if place is not None and root.call_name else ""
        if result and self.returned_one.get(id(module)):
            edit = edits.lines("after", place, f"{result} = {result}.float()")
            self.agent.fixes.changed("amp", f"{type(module).__name__} returns float32", edit)


class _Entered:
    """autocast of ours: entering it is not the program's doing."""

    def __init__(self, autocast: Any) -> None:
        self.autocast = autocast

    def __enter__(self) -> None:
        _seen["ours"] = True
        try:
            self.autocast.__enter__()
        finally:
            _seen["ours"] = False

    def __exit__(self, *error: object) -> None:
        self.autocast.__exit__(*error)


def _autocasts(torch: Any, device: str) -> bool:
    """Returns true if autocast is on, in any version of torch."""
    if device == "cuda":
        return bool(torch.is_autocast_enabled())
    if hasattr(torch.amp, "GradScaler"):  # 2.3 and later ask by device
        return bool(torch.is_autocast_enabled(device))
    return bool(torch.is_autocast_cpu_enabled())
