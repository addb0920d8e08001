# SPDX-License-Identifier: Apache-2.0
"""Inference: batch norm is folded into the convolution in front of it. Calls go to a folded copy; the model itself stays as it is.

The copy is made anew when a weight changed, and the first result is compared with the model's own.
"""

from __future__ import annotations

import copy
from typing import Any

from .. import edits
from ..layers import Call, Layer, Root
from ..reports import Report
from ._models import ModelFix

IMPORT = "from torch.fx.experimental.optimization import fuse"
CLOSE = 1e-3  # of the largest value


class ConvBn(ModelFix):
    live = True

    def why_not(self, value: str) -> str:
        return "folding is for inference, and this program trains" if self.tools.optimizers.made_any else ""

    def on(self, value: str) -> str:
        self.tools.models.add(Folded(self.torch, self.report, self.context.options.calls))
        return ""

    def nothing(self) -> str:
        return (
            "no model was called for inference"
            if not self.tools.optimizers.made_any
            else "folding is for inference, and this program trains"
        )


class Folded(Layer):
    training_only = False

    def __init__(self, torch: Any, report: Report, infers: bool) -> None:
        super().__init__(torch, report)
        self.infers = infers  # the user says so: gradients that are on are an oversight
        self.copies: dict[int, tuple[Any, Any]] = {}  # the state that was folded, and the folded copy
        self.pairs = 0

    def found(self, root: Root, module: Any) -> str:
        if root.trains:
            return "folding is for inference, and this program trains"
        if module.training:
            return f"{type(module).__name__} is not in eval mode: its batch norm uses the batch"
        if module._forward_hooks or module._forward_pre_hooks:
            return f"{type(module).__name__} has hooks"
        self.pairs = sum(isinstance(child, self.torch.nn.modules.batchnorm._BatchNorm) for child in module.modules())
        folded = self._fold(module)
        self.pairs -= sum(isinstance(child, self.torch.nn.modules.batchnorm._BatchNorm) for child in folded.modules())
        if not self.pairs:
            return f"{type(module).__name__} has no batch norm behind a convolution"
        self.copies[id(module)] = (_state(module), folded)
        return ""

    def _fold(self, module: Any) -> Any:
        from torch.fx.experimental.optimization import fuse

        return fuse(copy.deepcopy(module))

    def call(self, module: Any, call: Call) -> Call:
        records = self.torch.is_grad_enabled() and not self.infers
        if module.training or records or id(module) not in self.copies:
            return call
        state, folded = self.copies[id(module)]
        now = _state(module)
        if now != state:
            folded = self._fold(module)
            self.copies[id(module)] = (now, folded)
        if state is not None and self.report.took_effect():
            return lambda _, *args, **kwargs: folded(*args, **kwargs)
        return lambda _, *args, **kwargs: self._compared(call(module, *args, **kwargs), folded(*args, **kwargs))

    def _compared(self, own: Any, result: Any) -> Any:
        torch = self.torch
        pairs = (
            [(own, result)]
            if isinstance(own, torch.Tensor)
            else list(zip(own, result))
            if isinstance(own, (tuple, list))
            else []
        )
        if not pairs or not all(isinstance(output, torch.Tensor) and _close(output, other) for output, other in pairs):
            raise ValueError("the folded model computes something else")
        return result

    def works(self, root: Root, module: Any) -> None:
        edit = None
        if root.setup is not None:
            place, name = root.setup
            edit = edits.lines("before", place, f"{name} = fuse({name})", imports=(IMPORT,))
        self.report.changed(f"{type(module).__name__}: {self.pairs} × batch norm folded into its convolution", edit)

    def lost(self, root: Root, module: Any) -> None:
        self.copies.pop(id(module), None)


def _close(wanted: Any, other: Any) -> bool:
    scale = max(float(wanted.abs().max()), 1e-6) if wanted.numel() else 1.0
    return wanted.shape == other.shape and (not wanted.numel() or float((wanted - other).abs().max()) <= CLOSE * scale)


def _state(module: Any) -> tuple[int, ...]:
    """Changes when a parameter or buffer is written to or replaced."""
    kept = [*module.parameters(), *module.buffers()]
    return tuple([tensor._version for tensor in kept] + [id(tensor) for tensor in kept])


FIX = ConvBn
