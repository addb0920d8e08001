# SPDX-License-Identifier: Apache-2.0
"""Attention in one kernel: models of Hugging Face that use `attn_implementation="eager"` change to "sdpa", and the fast kernels that a
program has switched off for scaled_dot_product_attention are on.

Attention that a script writes out by hand (matmul, softmax, matmul) cannot be replaced without knowing what else it does.
"""

from __future__ import annotations

from typing import Any

from .. import edits
from ..layers import Layer, Root
from ..reports import Report
from . import _devices
from ._models import ModelFix

BACKENDS = ("flash", "mem_efficient", "cudnn")


class Sdpa(ModelFix):
    live = True
    unchanged = "attention is as the program chose"

    def why_not(self, value: str) -> str:
        missing = not hasattr(self.torch.nn.functional, "scaled_dot_product_attention")
        return f"torch {self.torch.__version__} has no scaled_dot_product_attention" if missing else ""

    def on(self, value: str) -> str:
        self.tools.models.add(Attention(self.torch, self.report))
        return ""


class Attention(Layer):
    training_only = False

    def __init__(self, torch: Any, report: Report) -> None:
        super().__init__(torch, report)
        self.changed: dict[int, list[Any]] = {}
        self.enabled: list[str] = []

    def found(self, root: Root, module: Any) -> str:
        eager = [child for child in module.modules() if _is_eager(child)]
        eager = [
            child for child in eager if not any(child is not other and child in other.modules() for other in eager)
        ]
        old = [child for child in eager if not hasattr(child, "set_attn_implementation")]
        if old:
            return (
                f'{type(old[0]).__name__} chooses its attention when it is made: pass attn_implementation="sdpa" there'
            )
        self._enable(module)
        for child in eager:
            child.set_attn_implementation("sdpa")
        self.changed[id(module)] = eager
        if not eager and not self.enabled:
            return "no model of a library uses eager attention; what a script writes by hand stays as it is"
        return ""

    def _enable(self, module: Any) -> None:
        backends = self.torch.backends.cuda
        if _devices.kind_of(module) != "cuda":
            return
        for name in BACKENDS:
            is_on = getattr(backends, f"{name}_sdp_enabled", None)
            if is_on is not None and not is_on():
                getattr(backends, f"enable_{name}_sdp")(True)
                self.enabled.append(name)

    def works(self, root: Root, module: Any) -> None:
        for child in self.changed.get(id(module), []):
            edit = None
            if root.setup is not None and child is module:
                edit = edits.lines("before", root.setup[0], f'{root.setup[1]}.set_attn_implementation("sdpa")')
            self.report.changed(f"{type(child).__name__}: attn_implementation eager → sdpa", edit)
        if self.enabled:
            self.report.changed(f"kernels for attention that were off are on: {', '.join(self.enabled)}")

    def lost(self, root: Root, module: Any) -> None:
        for child in self.changed.pop(id(module), []):
            child.set_attn_implementation("eager")
        for name in self.enabled:
            getattr(self.torch.backends.cuda, f"enable_{name}_sdp")(False)
        self.enabled.clear()


def _is_eager(module: Any) -> bool:
    return getattr(getattr(module, "config", None), "_attn_implementation", None) == "eager"


FIX = Sdpa
