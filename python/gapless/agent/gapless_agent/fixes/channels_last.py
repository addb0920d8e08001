# SPDX-License-Identifier: Apache-2.0
"""Images lie in memory with their channels last, as convolutions on tensor cores read them: weights and inputs of four dimensions.

Dropout of images draws its mask in the order of the memory: other masks than before, of the same distribution.
"""

from __future__ import annotations

from typing import Any

from .. import edits
from ..constructors import Given, Plan
from ..layers import Layer, Root
from ._models import ModelFix
from ._values import mapped


class ChannelsLast(ModelFix):
    def on(self, value: str) -> str:
        self.tools.models.add(Last(self.torch, self.report))
        self.change_arguments(self.torch.nn.parallel.DistributedDataParallel, self._wrapped)
        return ""

    def _wrapped(self, given: Given) -> Plan | None:
        """Before DistributedDataParallel lays out its buckets: they follow the weights."""
        module = given.get("module")
        if _has_images(self.torch, module):
            module.to(memory_format=self.torch.channels_last)
        return None


def _has_images(torch: Any, module: Any) -> bool:
    return any(isinstance(child, (torch.nn.Conv2d, torch.nn.ConvTranspose2d)) for child in module.modules())


class Last(Layer):
    training_only = False

    def found(self, root: Root, module: Any) -> str:
        torch = self.torch
        if not _has_images(torch, module):
            return f"{type(module).__name__} has no convolutions of images"
        if not isinstance(module, torch.nn.parallel.DistributedDataParallel):
            module.to(memory_format=torch.channels_last)
        return ""

    def before(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        return mapped(args, self._last), mapped(kwargs, self._last)

    def _last(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor) and value.dim() == 4 and value.layout is torch.strided:
            return value.contiguous(memory_format=torch.channels_last)
        return value

    def after(self, module: Any, result: Any) -> Any:
        """The program may look at its results in a way that needs the usual order (`view`)."""
        torch = self.torch
        return mapped(
            result,
            lambda item: (
                item.contiguous() if isinstance(item, torch.Tensor) and item.dim() == 4 and not item.is_sparse else item
            ),
        )

    def works(self, root: Root, module: Any) -> None:
        edit = None
        if root.setup is not None:
            place, name = root.setup
            edit = edits.lines(
                "before", place, f"{name}.to(memory_format=torch.channels_last)", imports=("import torch",)
            )
        self.report.changed(f"{type(module).__name__} and its inputs are channels_last", edit)

    def lost(self, root: Root, module: Any) -> None:
        module.to(memory_format=self.torch.contiguous_format)


FIX = ChannelsLast
