# SPDX-License-Identifier: Apache-2.0
"""Norms, gated blocks and losses of a model run in the Triton kernels of liger-kernel.

A loss that the script computes by a function (F.cross_entropy) stays: what a name stands for in a script is not changed.
"""

from __future__ import annotations

from typing import Any, Callable

from . import _numerics
from ._kernels import Kernel, KernelFix, Package, has_gate, is_layer_norm, is_rms_norm

PACKAGE = Package("liger_kernel", "Liger", "pip install liger-kernel")


def _from(*names: str) -> tuple[str, ...]:
    return tuple(f"from liger_kernel.transformers.functional import {name}" for name in names)


KERNELS = (
    Kernel("RMSNorm", is_rms_norm, _from("liger_rms_norm"), "liger_rms_norm(x, self.weight, {eps})"),
    Kernel("LayerNorm", is_layer_norm, _from("liger_layer_norm"), "liger_layer_norm(x, self.weight, self.bias, {eps})"),
    Kernel(
        "SwiGLU",
        lambda torch, module: has_gate(torch, module, "silu"),
        _from("liger_swiglu"),
        "self.down_proj(liger_swiglu(self.gate_proj(x), self.up_proj(x)))",
    ),
    Kernel(
        "GEGLU",
        lambda torch, module: has_gate(torch, module, "gelu"),
        _from("liger_geglu"),
        "self.down_proj(liger_geglu(self.gate_proj(x), self.up_proj(x)))",
    ),
)


class Liger(KernelFix):
    package, kernels = PACKAGE, KERNELS

    def on(self, value: str) -> str:
        self.context.patches.wrap(self.torch.nn.CrossEntropyLoss, "forward", self._around_loss)
        self.verdicts: dict[Any, str] = {}  # by shapes and settings: how the kernel differs
        return super().on(value)

    def _around_loss(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from liger_kernel.transformers.functional import liger_cross_entropy

        def kernel(loss: Any, input: Any, target: Any) -> Any:
            settings = {key: getattr(loss, key) for key in ("ignore_index", "label_smoothing", "reduction")}
            return liger_cross_entropy(input, target, loss.weight, **settings)

        def forward(loss: Any, input: Any, target: Any) -> Any:
            if not self.context.on or not self.report.is_on() or not self._takes(loss, input, target):
                return original(loss, input, target)
            key = input.shape, input.dtype, loss.reduction, loss.label_smoothing, loss.ignore_index
            if key not in self.verdicts:
                self.verdicts[key] = self._verdict(loss, kernel, input, target, original)
            return original(loss, input, target) if self.verdicts[key] else kernel(loss, input, target)

        return forward

    def _takes(self, loss: Any, input: Any, target: Any) -> bool:
        classes = input.dim() == 2 and not target.is_floating_point()
        return classes and loss.weight is None and input.requires_grad and not self.torch.compiler.is_compiling()

    def _verdict(self, loss: Any, kernel: Any, input: Any, target: Any, original: Any) -> str:
        sample = _numerics.sample_of(self.torch, (input, target), {})
        try:
            problem = _numerics.difference(self.torch, loss, kernel, sample, forward=original)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}".strip()[:300]
        if problem:
            self.report.pass_over(f"{PACKAGE.shown}'s cross entropy is wrong here: {problem}")
        else:
            self.report.changed(f"CrossEntropyLoss by {PACKAGE.shown}")
        return problem


FIX = Liger
