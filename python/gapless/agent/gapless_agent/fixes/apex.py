# SPDX-License-Identifier: Apache-2.0
"""Norms of a model run in the kernels of apex."""

from __future__ import annotations

from ._kernels import Kernel, KernelFix, Package, is_layer_norm, is_rms_norm

FUSED = "from apex.normalization.fused_layer_norm import "
KERNELS = (
    Kernel(
        "RMSNorm",
        is_rms_norm,
        (FUSED + "fused_rms_norm_affine",),
        "fused_rms_norm_affine(x, self.weight, self.weight.shape, {eps})",
    ),
    Kernel(
        "LayerNorm",
        is_layer_norm,
        (FUSED + "fused_layer_norm_affine",),
        "fused_layer_norm_affine(x, self.weight, self.bias, self.normalized_shape, {eps})",
    ),
)


class Apex(KernelFix):
    package = Package("apex", "apex", "https://github.com/NVIDIA/apex has how it is built")
    kernels = KERNELS


FIX = Apex
