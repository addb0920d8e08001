# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: the model's forward pass runs under autocast in bf16, or in fp16 with `amp=fp16`, and returns float32.

The backward pass follows the types of the forward pass. With fp16 the gradients start from a loss that is scaled, and are scaled back
as soon as they are there, so that a program that clips or reads them sees what it expects; a step whose gradients are not finite is
left out, as GradScaler does it.
"""

from __future__ import annotations

from typing import Any, Callable

from .. import edits
from ..layers import Layer, Root
from . import _devices
from ._models import ModelFix
from ._scaling import Scaling
from ._values import mapped


class Amp(ModelFix):
    live = True
    unchanged = "the model computes in the types of its parameters"
    scaling: Scaling | None = None
    watches = False
    scales_itself = False  # the program has a GradScaler
    casts_itself = False  # the program has entered autocast
    enters = False  # autocast of ours is made or entered right now

    def why_not(self, value: str) -> str:
        if _type(self.torch, value) is None:
            return f"{value!r} is neither bf16 nor fp16"
        return "the program scales its loss with a GradScaler" if self.scales_itself else ""

    def on(self, value: str) -> str:
        self._watch()
        dtype = _type(self.torch, value)
        if dtype is self.torch.float16 and not self.context.options.calls:
            if self.scaling is None:
                self.scaling = Scaling(self.tools, self.report)
            self.scaling.on = True
        self.tools.models.add(Mixed(self, dtype))
        return ""

    def off(self) -> str:
        if self.scaling is not None:
            self.scaling.on = False
        return super().off()

    def _watch(self) -> None:
        """Hooks GradScaler and autocast to detect mixed precision in the program."""
        if self.watches:
            return
        self.watches = True
        torch = self.torch
        scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        self.context.patches.wrap(scaler, "scale", self._around_scale)
        self.context.patches.wrap(torch.autocast, "__enter__", self._around_enter)

    def _around_scale(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def scale(self_: Any, *args: Any, **kwargs: Any) -> Any:
            if self_.is_enabled() and not self.scales_itself:
                self.scales_itself = True
                if self.report.is_on():
                    self.report.refuse("the program scales its loss with a GradScaler")
                    self.off()
            return original(self_, *args, **kwargs)

        return scale

    def _around_enter(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __enter__(self_: Any) -> Any:
            if not self.enters:
                self.casts_itself = True
            return original(self_)

        return __enter__


def _type(torch: Any, value: str) -> Any:
    return {"": torch.bfloat16, "bf16": torch.bfloat16, "fp16": torch.float16}.get(value)


class Mixed(Layer):
    def __init__(self, amp: Amp, dtype: Any) -> None:
        super().__init__(amp.torch, amp.report)
        self.amp, self.dtype = amp, dtype
        self.devices: dict[int, str] = {}
        self.returned_one: dict[int, bool] = {}  # the model returns a tensor, not several

    def found(self, root: Root, module: Any) -> str:
        torch = self.torch
        device = _devices.kind_of(module)
        if any(parameter.dtype in (torch.float16, torch.bfloat16) for parameter in module.parameters()):
            return f"{type(module).__name__} has parameters of 16 bits already"
        if self.dtype is torch.float16 and device == "cpu" and not hasattr(torch.amp, "GradScaler"):
            return f"torch {torch.__version__} computes in bf16 only without a GPU"
        if _autocasts(torch, device):
            return "the program uses autocast itself"
        self.devices[id(module)] = device
        self.amp.casts_itself = False
        return ""

    def context(self, module: Any) -> Any:
        device = self.devices[id(module)]
        if _autocasts(self.torch, device):
            return None
        self.amp.enters = True
        try:
            return _Entered(self.amp, self.torch.autocast(device, dtype=self.dtype))
        finally:
            self.amp.enters = False

    def after(self, module: Any, result: Any) -> Any:
        torch, dtype = self.torch, self.dtype
        if id(module) not in self.returned_one:
            self.returned_one[id(module)] = isinstance(result, torch.Tensor)
        return mapped(
            result, lambda item: item.float() if isinstance(item, torch.Tensor) and item.dtype is dtype else item
        )

    def works(self, root: Root, module: Any) -> None:
        if self.amp.casts_itself:
            raise RuntimeError("the program uses autocast itself")
        name, device = str(self.dtype).rpartition(".")[2], self.devices[id(module)]
        scales = self.amp.scaling is not None and self.amp.scaling.on
        scaled = " and scaled losses" if scales else ""
        what = f"{type(module).__name__} runs under autocast in {name}{scaled}"
        place = root.call_place if not scaled else None  # a scaled loss takes more than one place
        if place is not None and edits.mentions(place, "backward"):
            place = None  # autocast is for the forward pass
        head = f'with torch.autocast("{device}", dtype=torch.{name}):'
        self.report.changed(what, edits.lines("with", place, head, imports=("import torch",)))
        result = edits.result_of(place, root.call_name) if place is not None and root.call_name else ""
        if result and self.returned_one.get(id(module)):
            edit = edits.lines("after", place, f"{result} = {result}.float()")
            self.report.changed(f"{type(module).__name__} returns float32", edit)


class _Entered:
    """autocast of ours: entering it is not the program's doing."""

    def __init__(self, amp: Amp, autocast: Any) -> None:
        self.amp, self.autocast = amp, autocast

    def __enter__(self) -> None:
        self.amp.enters = True
        try:
            self.autocast.__enter__()
        finally:
            self.amp.enters = False

    def __exit__(self, *error: object) -> None:
        self.autocast.__exit__(*error)


def _autocasts(torch: Any, device: str) -> bool:
    """Returns true if autocast is on, in any version of torch."""
    if device == "cuda":
        return bool(torch.is_autocast_enabled())
    if hasattr(torch.amp, "GradScaler"):  # 2.3 and later ask by device
        return bool(torch.is_autocast_enabled(device))
    return bool(torch.is_autocast_cpu_enabled())


FIX = Amp
