# SPDX-License-Identifier: Apache-2.0
"""Norms, gated blocks, rotary embeddings and losses of a model run in the Triton kernels of liger-kernel.

A loss that the script computes by a function (F.cross_entropy) changes only together with the linear layer before it (_fused_loss.py): what
a name stands for in a script is not changed. Liger writes gradients into what it is given; what others may still read, it gets as a copy.
"""

from __future__ import annotations

from typing import Any, Callable

from ..context import Context
from ..layers import Root
from ..reports import Report
from . import _numerics
from ._fused_loss import FusedLoss
from ._kernels import Exchanged, Kernel, KernelFix, Package, has_gate, is_layer_norm, is_rms_norm
from ._rotary import Rotary

PACKAGE = Package("liger_kernel", "Liger", "pip install liger-kernel")


def _from(*names: str) -> tuple[str, ...]:
    return tuple(f"from liger_kernel.transformers.functional import {name}" for name in names)


KERNELS = (
    Kernel("RMSNorm", is_rms_norm, _from("liger_rms_norm"), "liger_rms_norm(x, self.weight, {eps}, in_place=False)"),
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
        self.tools.models.add(InLiger(self.context, self.report, self.package, self.kernels))
        return ""

    def _around_loss(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from liger_kernel.transformers.functional import liger_cross_entropy

        def kernel(loss: Any, input: Any, target: Any) -> Any:
            settings = {key: getattr(loss, key) for key in ("ignore_index", "label_smoothing", "reduction")}
            result = liger_cross_entropy(input.clone(), target, loss.weight, **settings)
            return _numerics.mean_of_some(self.torch, result, target, settings)

        def forward(loss: Any, input: Any, target: Any) -> Any:
            if not self.context.on or not self.report.is_on() or not self._takes(loss, input, target):
                return original(loss, input, target)
            key = input.shape, input.dtype, loss.reduction, loss.label_smoothing, loss.ignore_index
            if key not in self.verdicts:
                self.verdicts[key] = self._verdict(loss, kernel, input, target, original)
            return original(loss, input, target) if self.verdicts[key] else kernel(loss, input, target)

        return forward

    def _takes(self, loss: Any, input: Any, target: Any) -> bool:
        """Not of float16, whose loss is scaled after Liger has the gradients, nor of what the last layer's part may take."""
        if self.torch.compiler.is_compiling() or type(input) is not self.torch.Tensor:
            return False
        classes = input.dim() == 2 and not target.is_floating_point() and input.dtype is not self.torch.float16
        return classes and loss.weight is None and input.requires_grad

    def _verdict(self, loss: Any, kernel: Any, input: Any, target: Any, original: Any) -> str:
        sample = _numerics.sample_of(self.torch, (input, target), {})
        problem = _numerics.difference_or_error(self.torch, loss, kernel, sample, forward=original)
        if problem:
            self.report.pass_over(f"{PACKAGE.shown}'s cross entropy is wrong here: {problem}")
        else:
            self.report.changed(f"CrossEntropyLoss by {PACKAGE.shown}")
        return problem


class InLiger(Exchanged):
    """Modules, and what is none: rotary embeddings, and the last layer with its loss."""

    def __init__(self, context: Context, report: Report, package: Package, kernels: tuple[Kernel, ...]) -> None:
        super().__init__(context.torch, report, package, kernels)
        self.context_of_process, self.rotary = context, Rotary(context, report, package.shown)
        self.losses: dict[int, FusedLoss] = {}  # by id of a root

    def found(self, root: Root, module: Any) -> str:
        without_modules = super().found(root, module)
        has_rotary = self.rotary.put_in(root, module)
        loss = FusedLoss(self.context_of_process, self.report, self.package.shown)
        without_loss = loss.put_in(module)
        if without_loss:
            self.report.pass_over(without_loss)
        else:
            self.losses[id(module)] = loss
        return without_modules if without_loss and not has_rotary else ""

    def has_others(self, root: Any) -> bool:
        return True  # a cross entropy that comes later takes its kernel, whatever became of the modules

    def lost(self, root: Root, module: Any) -> None:
        self.rotary.take_out(module)
        if id(module) in self.losses:
            self.losses.pop(id(module)).take_out()
        super().lost(root, module)


FIX = Liger
