# SPDX-License-Identifier: Apache-2.0
"""Activations wait for the backward pass in the pinned memory of the host: less memory on the GPU, more copies.

Parameters stay where they are, and so does what is smaller than 1 MB.
"""

from __future__ import annotations

from typing import Any

from .. import edits
from ..layers import Layer, Root
from . import _devices
from ._models import ModelFix

LEAST_BYTES = 1 << 20


class Offload(ModelFix):
    live = True
    unchanged = "activations stay on the GPU"

    def why_not(self, value: str) -> str:
        return "" if _devices.has_cuda(self.torch) else f"{_devices.NO_CUDA}: activations are in the memory of the host"

    def on(self, value: str) -> str:
        self.tools.models.add(Moved(self.torch, self.report))
        return ""


class Moved(Layer):
    device = "cuda"  # what is moved away from
    least_bytes = LEAST_BYTES

    def found(self, root: Root, module: Any) -> str:
        return "" if _devices.kind_of(module) == self.device else "the model is not on a GPU"

    def context(self, module: Any) -> Any:
        weights = {_memory(parameter) for parameter in module.parameters()}
        torch = self.torch

        def pack(tensor: Any) -> Any:
            small = tensor.numel() * tensor.element_size() < self.least_bytes
            if (
                small
                or tensor.device.type != self.device
                or tensor.layout is not torch.strided
                or _memory(tensor) in weights
            ):
                return tensor
            kept = torch.empty(tensor.size(), dtype=tensor.dtype, pin_memory=tensor.is_cuda)
            kept.copy_(tensor)
            return tensor.device, kept

        def unpack(packed: Any) -> Any:
            return packed[1].to(packed[0], non_blocking=True) if isinstance(packed, tuple) else packed

        return torch.autograd.graph.saved_tensors_hooks(pack, unpack)

    def works(self, root: Root, module: Any) -> None:
        line = "with torch.autograd.graph.save_on_cpu(pin_memory=True):"
        edit = edits.lines("with", root.call_place, line, imports=("import torch",)) if root.trains else None
        self.report.changed(f"activations of {type(module).__name__} wait in the memory of the host", edit)


def _memory(tensor: Any) -> int:
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return int(storage.data_ptr())


FIX = Offload
