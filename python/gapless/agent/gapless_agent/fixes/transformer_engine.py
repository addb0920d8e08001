# SPDX-License-Identifier: Apache-2.0
"""Large linear layers multiply in 8-bit floating point, in the kernels of Transformer Engine: another training, as the products are coarser.

A layer keeps its class and its parameters; beside it lies one of Transformer Engine with the same parameters, which computes. Scales are those
of the tensor at hand (Float8CurrentScaling), so that nothing of a step depends on those before it. Calls with a number of rows that the kernels
do not take stay as they were. A result may differ from float64 as one of the fix `float8` may.
"""

from __future__ import annotations

import importlib
from typing import Any

from .. import edits
from ..layers import Root
from . import _devices, _numerics
from ._kernels import Exchanged, Kernel, KernelFix, Package, Place, function_from
from .float8 import LEAST, LOOSEST, SIZES_FIT, fits

INSTALL = "pip install --no-build-isolation transformer_engine[pytorch]"
PACKAGE = Package("transformer_engine", "Transformer Engine", INSTALL)
BESIDE = "_of_transformer_engine"  # the attribute of a layer
IMPORTS = (
    "import torch",
    "import transformer_engine.pytorch as te",
    "from transformer_engine.common.recipe import Float8CurrentScaling",
)
TEXT = f"""\
def in_float8(self, x):
    if x.shape[:-1].numel() % {LEAST}:
        return torch.nn.Linear.forward(self, x)
    layer = vars(self).get("{BESIDE}")
    if layer is None or layer.weight is not self.weight:
        types = dict(params_dtype=self.weight.dtype, device=self.weight.device, init_method=lambda weight: None)
        layer = te.Linear(self.in_features, self.out_features, bias=self.bias is not None, **types)
        layer.weight = self.weight
        if self.bias is not None:
            layer.bias = self.bias
        vars(self)["{BESIDE}"] = layer
    with te.autocast(enabled=True, recipe=Float8CurrentScaling()):
        return layer(x)
"""
LINEAR = Kernel("Linear in float8", fits, IMPORTS, "in_float8(self, x)")


class TransformerEngine(KernelFix):
    package, kernels = PACKAGE, (LINEAR,)

    def why_not(self, value: str) -> str:
        reason = super().why_not(value)
        if reason:
            return reason
        try:
            engine = importlib.import_module("transformer_engine.pytorch")
        except Exception as error:  # its libraries do not fit this machine
            return f"{PACKAGE.shown} cannot be imported: {type(error).__name__}: {error}"
        if not hasattr(engine, "autocast"):
            return f"this {PACKAGE.shown} has no autocast: {PACKAGE.install}"
        capability = _devices.capability(self.torch)
        is_old = capability is not None and capability < (8, 9)
        return "GPUs multiply in float8 from compute capability 8.9 on" if is_old else ""

    def on(self, value: str) -> str:
        self.tools.models.add(InEngine(self.torch, self.report, self.package, self.kernels))
        return ""


class InEngine(Exchanged):
    def place_of(self, kernel: Kernel, module: Any) -> Place:
        return Place(module, kernel, function_from("in_float8", TEXT, IMPORTS))

    def problem_of(self, place: Place, sample: _numerics.Sample) -> str:
        return _numerics.difference_or_error(self.torch, place.module, place.forward, sample, loosest=LOOSEST)

    def take_out(self, place: Place) -> None:
        super().take_out(place)
        vars(place.module).pop(BESIDE, None)

    def edit_of(self, root: Root, module: Any, places: list[Place]) -> dict[str, Any] | None:
        if root.setup is None:
            return None
        place, name = root.setup
        return edits.lines(
            "before",
            place,
            *TEXT.splitlines(),
            f"for layer in {name}.modules():",
            f"    if type(layer) is torch.nn.Linear and {SIZES_FIT}:",
            "        layer.forward = types.MethodType(in_float8, layer)",
            imports=("import types", *IMPORTS),
        )


FIX = TransformerEngine
