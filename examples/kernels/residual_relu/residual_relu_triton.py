# SPDX-License-Identifier: Apache-2.0
# residual_relu in Triton.
# aten::add > aten::clamp_min
"""The kernels of residual_relu in Triton, called by residual_relu.py."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# For each direction: does a program compute a row? Else a stretch of elements, of any rows.
BY_ROW = {"forward": False, "backward": False}
LONGEST_ROW = 65536  # elements of a row that a program can hold


@triton.jit
def _pow(a, b):
    whole = tl.floor(b)
    size = tl.exp2(b * tl.log2(tl.where(a == 0, 1.0, tl.abs(a))))
    odd = whole - 2 * tl.floor(whole / 2)
    negative = tl.where(b == whole, tl.where(odd != 0, -size, size), float("nan"))
    return tl.where(a > 0, size, tl.where(a < 0, negative, tl.where(b == 0, 1.0, tl.where(b > 0, 0.0, float("inf")))))


@triton.jit
def _forward(in0, in1, out0, rows, cols, div0, mod0, row0, col0, div1, mod1, row1, col1, s0, WANT0: tl.constexpr, A: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    live = at < rows * cols
    r = at // cols
    c = at % cols
    n0 = tl.load(in0 + ((r // div0) % mod0) * row0 + c * col0, mask=live, other=0).to(A)
    n1 = tl.load(in1 + ((r // div1) % mod1) * row1 + c * col1, mask=live, other=0).to(A)
    n3 = (n0 + n1)
    n4 = s0
    n5 = (n4 > n3).to(A)
    n6 = tl.where(n5 != 0, n4, n3)
    if WANT0:
        tl.store(out0 + at, (tl.zeros([BLOCK], A) + n6).to(out0.dtype.element_ty), mask=live)


@triton.jit
def _backward(in0, in1, in2, out0, out1, rows, cols, div0, mod0, row0, col0, div1, mod1, row1, col1, div2, mod2, row2, col2, s0, WANT0: tl.constexpr, WANT1: tl.constexpr, A: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    live = at < rows * cols
    r = at // cols
    c = at % cols
    n0 = tl.load(in0 + ((r // div0) % mod0) * row0 + c * col0, mask=live, other=0).to(A)
    n1 = tl.load(in1 + ((r // div1) % mod1) * row1 + c * col1, mask=live, other=0).to(A)
    n3 = (n0 + n1)
    n4 = s0
    n5 = (n4 > n3).to(A)
    n7 = tl.load(in2 + ((r // div2) % mod2) * row2 + c * col2, mask=live, other=0).to(A)
    n9 = tl.where(n5 != 0, (0), n7)
    if WANT0:
        tl.store(out0 + at, (tl.zeros([BLOCK], A) + n9).to(out0.dtype.element_ty), mask=live)
    if WANT1:
        tl.store(out1 + at, (tl.zeros([BLOCK], A) + n9).to(out1.dtype.element_ty), mask=live)



def run(which, inputs, places, rows, cols, scalars, outputs) -> None:
    """Computes the same as the operators of the extension: `which` is "forward" or "backward"."""
    if rows * cols == 0:
        return
    by_row = BY_ROW[which]
    if by_row and cols > LONGEST_ROW:
        raise ValueError(f"a row of {cols} elements is too long for the Triton kernel: {LONGEST_ROW} at most")
    block = triton.next_power_of_2(cols) if by_row else 1024
    grid = (rows,) if by_row else (triton.cdiv(rows * cols, block),)
    wanted = [output.numel() > 0 for output in outputs]
    accumulate = tl.float64 if inputs[0].dtype == torch.float64 else tl.float32
    kernel = _forward if which == "forward" else _backward
    with torch.cuda.device_of(inputs[0]):
        kernel[grid](*inputs, *outputs, rows, cols, *places, *scalars, *wanted, accumulate, block,
                     num_warps=min(max(block // 512, 4), 16))
