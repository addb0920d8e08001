# SPDX-License-Identifier: Apache-2.0
"""Large linear layers multiply in 8-bit floating point (torchao.float8): another training, as the products are coarser.

A layer keeps its class and its parameters; it computes by the forward pass of torchao's Float8Linear. A result may differ from float64 by
LOOSEST of the largest value: the type keeps three binary digits of a number, and a gradient two.
"""

from __future__ import annotations

from typing import Any

from .. import edits
from ..layers import Root
from . import _devices, _numerics
from ._kernels import Exchanged, Kernel, KernelFix, Package, Place

PACKAGE = Package("torchao", "torchao", "pip install torchao")
LOOSEST = 0.1
LEAST = 16  # the hardware multiplies in multiples of this
SIZES_FIT = f"layer.in_features % {LEAST} == 0 and layer.out_features % {LEAST} == 0"  # in a patch
ATTRIBUTES = ("config", "linear_mm_config")  # of Float8Linear, which its forward pass reads


def fits(torch: Any, module: Any) -> bool:
    return type(module) is torch.nn.Linear and not module.in_features % LEAST and not module.out_features % LEAST


LINEAR = Kernel("Linear in float8", fits, (), "")


class Float8(KernelFix):
    package, kernels = PACKAGE, (LINEAR,)

    def why_not(self, value: str) -> str:
        reason = super().why_not(value)
        capability = _devices.capability(self.torch)
        if not reason and capability is not None and capability < (8, 9):
            return "GPUs multiply in float8 from compute capability 8.9 on"
        return reason

    def on(self, value: str) -> str:
        self.tools.models.add(InFloat8(self.torch, self.report, self.package, self.kernels))
        return ""


class InFloat8(Exchanged):
    def place_of(self, kernel: Kernel, module: Any) -> Place:
        from torchao.float8 import Float8LinearConfig
        from torchao.float8.float8_linear import Float8Linear

        layer = Float8Linear.from_float(module, config=Float8LinearConfig(emulate=not module.weight.is_cuda))
        for name in ATTRIBUTES:
            vars(module)[name] = getattr(layer, name)
        return Place(module, kernel, Float8Linear.forward)

    def problem_of(self, place: Place, sample: _numerics.Sample) -> str:
        return _numerics.difference(self.torch, place.module, place.forward, sample, loosest=LOOSEST)

    def take_out(self, place: Place) -> None:
        super().take_out(place)
        for name in ATTRIBUTES:
            vars(place.module).pop(name, None)

    def edit_of(self, root: Root, module: Any, places: list[Place]) -> dict[str, Any] | None:
        if root.setup is None:
            return None
        place, name = root.setup
        call = f"convert_to_float8_training({name}, module_filter_fn=lambda layer, _: {SIZES_FIT})"
        return edits.lines("before", place, call, imports=("from torchao.float8 import convert_to_float8_training",))


FIX = Float8
