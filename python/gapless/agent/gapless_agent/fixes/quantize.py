# SPDX-License-Identifier: Apache-2.0
"""Inference with weights of 8 bits: torchao.quantization exchanges the weights of linear layers. Nothing is installed."""

from __future__ import annotations

import importlib
from typing import Any

from .. import edits
from ..layers import Root
from ..reports import Report
from ._in_place import InPlace
from ._models import ModelFix

CONFIGS = {"int8": "Int8WeightOnlyConfig", "float8": "Float8WeightOnlyConfig"}
INSTALL = "pip install torchao"
MODULE = "torchao.quantization"


class Quantize(ModelFix):
    def why_not(self, value: str) -> str:
        if value not in CONFIGS:
            return f"{value!r} is neither {' nor '.join(CONFIGS)}"
        if self.tools.optimizers.made_any:
            return "weights of 8 bits are for inference, and this program trains"
        try:
            package = importlib.import_module(MODULE)
        except Exception as error:  # an import that fails is a package that does not fit this machine
            if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "torchao":
                return f"torchao is not installed: {INSTALL}"
            return f"torchao cannot be imported: {type(error).__name__}: {error}"
        has_it = hasattr(package, "quantize_") and hasattr(package, CONFIGS[value])
        return "" if has_it else f"this torchao has no {CONFIGS[value]}: {INSTALL} --upgrade"

    def on(self, value: str) -> str:
        self.tools.models.add(EightBits(self.torch, self.report, CONFIGS[value]))
        return ""

    def nothing(self) -> str:
        return "no model was called for inference"


class EightBits(InPlace):
    def __init__(self, torch: Any, report: Report, config: str) -> None:
        super().__init__(torch, report)
        self.config = config

    def _layers(self, module: Any) -> list[Any]:
        return [child for child in module.modules() if isinstance(child, self.torch.nn.Linear)]

    def why_not(self, module: Any) -> str:
        return "" if self._layers(module) else f"{type(module).__name__} has no linear layers"

    def change(self, module: Any) -> None:
        package = importlib.import_module(MODULE)
        package.quantize_(module, getattr(package, self.config)())

    def works(self, root: Root, module: Any) -> None:
        super().works(root, module)
        edit = None
        if root.setup is not None:
            place, name = root.setup
            names = ("quantize_", self.config)
            edit = edits.lines(
                "before", place, f"quantize_({name}, {self.config}())",
                imports=(f"from {MODULE} import {', '.join(sorted(names))}",),
            )  # fmt: skip
        count = len(self._layers(module))
        self.report.changed(f"{type(module).__name__}: the weights of {count} linear layers by {self.config}", edit)


FIX = Quantize
