# SPDX-License-Identifier: Apache-2.0
"""Inference: the model is called under torch.inference_mode(), where the program has left gradients on."""

from __future__ import annotations

from typing import Any

from .. import edits
from ..layers import Layer, Root
from ._models import ModelFix

OFF = "the program has switched gradients off itself"


class InferenceMode(ModelFix):
    def on(self, value: str) -> str:
        self.tools.models.add(Unrecorded(self.torch, self.report))
        return ""

    def nothing(self) -> str:
        return "no model was called for inference"


class Unrecorded(Layer):
    training_only = False

    def found(self, root: Root, module: Any) -> str:
        if root.trains:
            return "this program trains"
        return "" if self.torch.is_grad_enabled() else OFF

    def context(self, module: Any) -> Any:
        return self.torch.inference_mode()

    def works(self, root: Root, module: Any) -> None:
        edit = edits.lines("with", root.call_place, "with torch.inference_mode():", imports=("import torch",))
        self.report.changed(f"{type(module).__name__} is called under torch.inference_mode()", edit)


FIX = InferenceMode
