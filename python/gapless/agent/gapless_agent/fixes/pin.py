# SPDX-License-Identifier: Apache-2.0
"""Batches lie in pinned memory, and copies of it to a GPU do not wait: `pin_memory=True`, `non_blocking=True`.

Only copies to a GPU: one that comes back is read at once by the program, which would see it unfinished.
"""

from __future__ import annotations

from typing import Any, Callable

from ..constructors import Given, Plan
from ..loader_switch import holds_cuda
from ..patches import hide
from . import _devices
from ._loader import LoaderFix


class Pin(LoaderFix):
    def why_not(self, value: str) -> str:
        return "" if _devices.has_cuda(self.torch) else f"{_devices.NO_CUDA} that pinned memory would be copied to"

    def on(self, value: str) -> str:
        tensor = self.torch.Tensor
        self.change(self._pin)
        self.context.patches.wrap(tensor, "to", self._around_to)
        self.context.patches.wrap(tensor, "cuda", self._around_cuda)
        return ""

    def nothing(self) -> str:
        return "the program made no DataLoader and copied no pinned memory to a GPU"

    def _pin(self, given: Given) -> Plan | None:
        if given.get("pin_memory"):
            self.report.pass_over("a DataLoader has pin_memory=True already")
            return None
        if holds_cuda(self.torch, given.get("dataset")):
            self.report.pass_over("the dataset is on the GPU already")
            return None
        given.set(pin_memory=True)
        return Plan("pin_memory, and copies to the GPU are non_blocking", {"pin_memory": "True"})

    def _around_to(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context, torch = self.context, self.torch

        def to(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                if context.on and self_.is_cpu and goes_to_cuda(torch, args, kwargs) and self_.is_pinned():
                    kwargs["non_blocking"] = True
                return original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return to

    def _around_cuda(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context = self.context

        def cuda(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                if context.on and len(args) < 2 and "non_blocking" not in kwargs and self_.is_cpu and self_.is_pinned():
                    kwargs["non_blocking"] = True
                return original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return cuda


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


FIX = Pin
