# SPDX-License-Identifier: Apache-2.0
"""The kernels that compute attention: another of torch's for scaled_dot_product_attention, or those of a package, for models of Hugging Face
that can change to them."""

from __future__ import annotations

from typing import Any

from .. import edits
from ..layers import Layer, Root
from ..reports import Report
from . import _devices
from ._models import ModelFix

BACKENDS = {
    "cudnn": "CUDNN_ATTENTION",
    "flash": "FLASH_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "math": "MATH",
}
# For each value the name that transformers has for it, and the package that it needs.
IMPLEMENTATIONS = {"flash_attn": ("flash_attention_2", "flash-attn"), "flex": ("flex_attention", "")}


class Attention(ModelFix):
    unchanged = "attention is computed by the kernels that the program chose"

    def why_not(self, value: str) -> str:
        if value in IMPLEMENTATIONS:
            return ""
        if value not in BACKENDS:
            return f"{value!r} is none of {', '.join((*BACKENDS, *IMPLEMENTATIONS))}"
        if not hasattr(getattr(self.torch.nn, "attention", None), "sdpa_kernel"):
            return f"torch {self.torch.__version__} has no torch.nn.attention.sdpa_kernel"
        return ""

    def on(self, value: str) -> str:
        layer = Implementation if value in IMPLEMENTATIONS else Backend
        self.tools.models.add(layer(self.torch, self.report))
        return ""


class Backend(Layer):
    """The kernels of torch in another order: what the first one cannot take goes to the next."""

    def context(self, module: Any) -> Any:
        attention = self.torch.nn.attention
        first = BACKENDS[self.report.value()]
        names = [first, *(name for name in BACKENDS.values() if name != first)]
        backends = [getattr(attention.SDPBackend, name) for name in names if hasattr(attention.SDPBackend, name)]
        return attention.sdpa_kernel(backends, set_priority=True)

    def works(self, root: Root, module: Any) -> None:
        name = BACKENDS[self.report.value()]
        context = f"with sdpa_kernel([SDPBackend.{name}, SDPBackend.MATH], set_priority=True):"
        imports = ("from torch.nn.attention import SDPBackend, sdpa_kernel",)
        edit = edits.lines("with", root.call_place, context, imports=imports)
        self.report.changed(f"{type(module).__name__}: attention is computed by {name} first", edit)


class Implementation(Layer):
    """Another implementation of a model of transformers; its first call says if it takes the model's mask and type."""

    def __init__(self, torch: Any, report: Report) -> None:
        super().__init__(torch, report)
        self.changed: dict[int, list[tuple[Any, str]]] = {}

    def found(self, root: Root, module: Any) -> str:
        name, package = IMPLEMENTATIONS[self.report.value()]
        models = [child for child in module.modules() if hasattr(child, "set_attn_implementation")]
        if not models:
            return "no model of transformers that can change its attention is trained"
        if package and _devices.kind_of(module) != "cuda":
            return f"the kernels of {package} are for GPUs"
        outer = models[0]
        before = str(getattr(outer.config, "_attn_implementation", "eager"))
        if before == name:
            return f"{type(outer).__name__} uses {name} already"
        outer.set_attn_implementation(name)  # an error says why it cannot
        self.changed[id(module)] = [(outer, before)]
        return ""

    def works(self, root: Root, module: Any) -> None:
        name = IMPLEMENTATIONS[self.report.value()][0]
        for model, before in self.changed.get(id(module), []):
            edit = None
            if root.setup is not None and model is module:
                edit = edits.lines("before", root.setup[0], f'{root.setup[1]}.set_attn_implementation("{name}")')
            self.report.changed(f"{type(model).__name__}: attn_implementation {before} → {name}", edit)

    def lost(self, root: Root, module: Any) -> None:
        for model, before in self.changed.pop(id(module), []):
            model.set_attn_implementation(before)


FIX = Attention
