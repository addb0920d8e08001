# SPDX-License-Identifier: Apache-2.0
# Tests conv_bias_relu_pool: python test_conv_bias_relu_pool.py [--triton]
"""Holds the kernel to eager PyTorch and its gradient to autograd, in float64 and in the recorded types, on small sizes
in which sizes that were equal still are, and to finite differences (gradcheck). On the host where there is no CUDA;
--triton tests the Triton kernel, without CUDA in Triton's interpreter."""

from __future__ import annotations

import os
import sys

if "--triton" in sys.argv:
    os.environ.setdefault("TRITON_INTERPRET", "0" if os.path.exists("/dev/nvidia0") else "1")

import torch

import conv_bias_relu_pool as kernel

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}


def small_shapes(first: int) -> list[tuple[int, ...]]:
    """The recorded shapes with small sizes: 1 stays 1, equal sizes stay equal, and different ones different."""
    known = sorted({size for shape in kernel.SHAPES for size in shape if size > 1})
    small = {size: first + at for at, size in enumerate(known)}
    # Planes hold a window and a bit; sizes that are a plane's elsewhere are so large everywhere.
    for size in {size for shape in kernel.SHAPES for size in shape[-2:] if size > 1}:
        small[size] += max(1 + dilation * (count - 1) for count, dilation in zip(kernel.SIZE, kernel.DILATION))
    return [tuple(small.get(size, size) for size in shape) for shape in kernel.SHAPES]


def inputs_of(shapes: list[tuple[int, ...]], types: list[torch.dtype], positive: bool) -> list[torch.Tensor]:
    made = []
    torch.manual_seed(0)
    for shape, kind in zip(shapes, types):
        x = torch.randn(shape, dtype=torch.float64, device=DEVICE)
        if kind == torch.bool:
            made.append(x > 0)
        else:
            made.append((x.abs() + 0.5 if positive else x).to(kind).requires_grad_())
    return made


def scalars() -> dict[str, float]:
    return {name: 0.75 if value is None else value for name, value in kernel.SCALARS.items()}


def chosen_inputs(shapes: list[tuple[int, ...]], types: list[torch.dtype]) -> list[torch.Tensor]:
    """Numbers of both signs, or positive ones where the chain is only defined for these."""
    inputs = inputs_of(shapes, types, positive=False)
    if bool(torch.isfinite(kernel.reference(*inputs, **scalars())).all()):
        return inputs
    return inputs_of(shapes, types, positive=True)


def compare(shapes: list[tuple[int, ...]], types: list[torch.dtype], tolerance: float) -> None:
    inputs = chosen_inputs(shapes, types)
    wide = [x.detach().double().requires_grad_() if x.dtype != torch.bool else x for x in inputs]
    ours = getattr(kernel, "conv_bias_relu_pool")(*inputs, **scalars())
    eager = kernel.reference(*wide, **scalars())
    assert ours.shape == eager.shape, (ours.shape, eager.shape)
    torch.testing.assert_close(ours.double(), eager, rtol=tolerance, atol=tolerance)
    weights = torch.randn(eager.shape, dtype=torch.float64, device=DEVICE).to(ours.dtype)
    floats = [x for x in inputs if x.dtype != torch.bool]
    wide = [x for x in wide if x.dtype != torch.bool]
    got = torch.autograd.grad(ours, floats, weights, retain_graph=True)
    again = torch.autograd.grad(ours, floats, weights)
    assert all(torch.equal(a, b) for a, b in zip(got, again)), "the gradient is not the same twice"
    expected = torch.autograd.grad(eager, wide, weights.double(), allow_unused=True, materialize_grads=True)
    for x, a, b in zip(floats, got, expected):
        scale = max(1.0, float(b.abs().max()) if b.numel() else 1.0)
        torch.testing.assert_close(a.double(), b, rtol=tolerance, atol=tolerance * scale)
        assert a.dtype == x.dtype and a.shape == x.shape


def main() -> int:
    triton = "--triton" in sys.argv
    kernel.BACKEND = "triton" if triton else "extension"
    doubles = [torch.bool if kind == torch.bool else torch.float64 for kind in kernel.TYPES]
    singles = [torch.bool if kind == torch.bool else torch.float32 for kind in kernel.TYPES]
    tolerance = max(TOLERANCE[kind] for kind in kernel.TYPES if kind != torch.bool)
    if not triton:  # float64 in Triton has scalars and functions of float32
        compare(small_shapes(2), doubles, TOLERANCE[torch.float64])
        compare(small_shapes(33), doubles, TOLERANCE[torch.float64])
        torch.autograd.gradcheck(
            lambda *inputs: getattr(kernel, "conv_bias_relu_pool")(*inputs, **scalars()), chosen_inputs(small_shapes(2), doubles)
        )
    compare(small_shapes(9), singles, TOLERANCE[torch.float32])
    compare(small_shapes(5), list(kernel.TYPES), tolerance)
    print(f"conv_bias_relu_pool ({'Triton' if triton else 'extension'}, {DEVICE}): passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
