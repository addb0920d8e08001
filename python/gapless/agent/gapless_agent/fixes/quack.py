# SPDX-License-Identifier: Apache-2.0
"""Norms of a model run in the CuTe kernels of quack-kernels, which are for GPUs from Hopper on."""

from __future__ import annotations

from ._kernels import Kernel, KernelFix, Package, is_layer_norm, is_rms_norm

KERNELS = (
    Kernel("RMSNorm", is_rms_norm, ("from quack import rmsnorm",), "rmsnorm(x, self.weight, eps={eps})"),
    Kernel(
        "LayerNorm",
        is_layer_norm,
        ("from quack import layernorm",),
        "layernorm(x, self.weight, self.bias, eps={eps})",
    ),
)


class Quack(KernelFix):
    package, kernels = Package("quack", "QuACK", "pip install quack-kernels"), KERNELS


FIX = Quack
