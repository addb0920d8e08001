# SPDX-License-Identifier: Apache-2.0
"""Inference in 16 bits: weights and inputs are cast once, what the model returns is float32 again."""

from __future__ import annotations

from typing import Any

from .. import edits
from ..layers import Root
from ..reports import Report
from ._in_place import InPlace
from ._models import ModelFix
from ._values import mapped

TYPES = {"bf16": "bfloat16", "fp16": "float16"}


class Cast(ModelFix):
    def why_not(self, value: str) -> str:
        if value not in TYPES:
            return f"{value!r} is neither bf16 nor fp16"
        return "casting all weights is for inference, and this program trains" if self.tools.optimizers.made_any else ""

    def on(self, value: str) -> str:
        self.tools.models.add(Half(self.torch, self.report, TYPES[value]))
        return ""

    def nothing(self) -> str:
        return "no model was called for inference"


class Half(InPlace):
    def __init__(self, torch: Any, report: Report, name: str) -> None:
        super().__init__(torch, report)
        self.name, self.dtype = name, getattr(torch, name)

    def why_not(self, module: Any) -> str:
        types = {tensor.dtype for tensor in module.parameters()}
        return "" if self.torch.float32 in types else f"{type(module).__name__} has no weights in float32"

    def change(self, module: Any) -> None:
        """New parameters, not new data in the old ones: these are put back as they were if the first call fails."""
        torch = self.torch
        for child in module.modules():
            for name, tensor in list(child._parameters.items()):
                if tensor is not None and tensor.dtype is torch.float32:
                    child._parameters[name] = torch.nn.Parameter(tensor.to(self.dtype), tensor.requires_grad)
            for name, tensor in list(child._buffers.items()):
                if tensor is not None and tensor.dtype is torch.float32:
                    child._buffers[name] = tensor.to(self.dtype)

    def before(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        return mapped(args, self._lower), mapped(kwargs, self._lower)

    def _lower(self, value: Any) -> Any:
        torch = self.torch
        return value.to(self.dtype) if isinstance(value, torch.Tensor) and value.dtype is torch.float32 else value

    def after(self, module: Any, result: Any) -> Any:
        torch = self.torch
        return mapped(
            result, lambda item: item.float() if isinstance(item, torch.Tensor) and item.dtype is self.dtype else item
        )

    def works(self, root: Root, module: Any) -> None:
        super().works(root, module)
        # The program's own inputs and outputs have to follow, which one edit cannot say.
        where = f" ({edits.shown(root.call_place.file)}:{root.call_place.line})" if root.call_place is not None else ""
        self.report.changed(
            f"{type(module).__name__} and its inputs are {self.name}, its outputs float32 again: "
            f".to(torch.{self.name}) of both, and .float() of what it returns{where}"
        )


FIX = Cast
