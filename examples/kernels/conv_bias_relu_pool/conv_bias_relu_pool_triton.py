# SPDX-License-Identifier: Apache-2.0
# conv_bias_relu_pool in Triton.
# aten::add > aten::clamp_min > aten::max_pool2d_with_indices
"""The kernels of conv_bias_relu_pool in Triton, called by conv_bias_relu_pool.py."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# For each direction: does a program compute a row? Else a stretch of elements, of any rows.
BY_ROW = {"forward": False, "backward": True}
LONGEST_ROW = 65536  # elements of a row that a program can hold


@triton.jit
def _pow(a, b):
    whole = tl.floor(b)
    size = tl.exp2(b * tl.log2(tl.where(a == 0, 1.0, tl.abs(a))))
    odd = whole - 2 * tl.floor(whole / 2)
    negative = tl.where(b == whole, tl.where(odd != 0, -size, size), float("nan"))
    return tl.where(a > 0, size, tl.where(a < 0, negative, tl.where(b == 0, 1.0, tl.where(b > 0, 0.0, float("inf")))))


@triton.jit
def _forward(in0, in1, out0, chosen, rows, cols, height, width, down, across, div0, mod0, row0, col0, div1, mod1, row1, col1, s0, WANT0: tl.constexpr, WANT_CHOSEN: tl.constexpr, A: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    within = at < rows * down * across
    r = at // (down * across)
    top = at // across % down * 2 - 0
    left = at % across * 2 - 0
    n1 = tl.load(in1 + ((r // div1) % mod1) * row1, mask=within, other=0).to(A)
    n4 = s0
    largest = tl.full([BLOCK], float("-inf"), A)
    place = tl.full([BLOCK], -1, tl.int32)
    for k in tl.static_range(9):
        y = top + k // 3 * 1
        x = left + k % 3 * 1
        live = within & (y >= 0) & (y < height) & (x >= 0) & (x < width)
        c = y * width + x
        n0 = tl.load(in0 + ((r // div0) % mod0) * row0 + c * col0, mask=live, other=0).to(A)
        n3 = (n0 + n1)
        n5 = (n4 > n3).to(A)
        n6 = tl.where(n5 != 0, n4, n3)
        larger = live & ((place < 0) | (n6 > largest) | (n6 != n6))
        largest = tl.where(larger, n6, largest)
        place = tl.where(larger, k, place)
    if WANT0:
        tl.store(out0 + at, largest.to(out0.dtype.element_ty), mask=within)
    if WANT_CHOSEN:
        tl.store(chosen + at, place.to(tl.uint8), mask=within)


@triton.jit
def _backward(in0, in1, in2, in3, out0, out1, rows, cols, height, width, down, across, div0, mod0, row0, col0, div1, mod1, row1, col1, div2, mod2, row2, col2, div3, mod3, row3, col3, s0, WANT0: tl.constexpr, WANT1: tl.constexpr, A: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    live = c < cols
    at = r * cols + c
    n0 = tl.load(in0 + ((r // div0) % mod0) * row0 + c * col0, mask=live, other=0).to(A)
    n1 = tl.load(in1 + ((r // div1) % mod1) * row1).to(A)
    n3 = (n0 + n1)
    n4 = s0
    n5 = (n4 > n3).to(A)
    n7 = tl.zeros([BLOCK], A)
    for k in tl.static_range(9):
        y = c // width + 0 - k // 3 * 1
        x = c % width + 0 - k % 3 * 1
        hit = live & (y >= 0) & (y % 2 == 0) & (y // 2 < down)
        hit = hit & (x >= 0) & (x % 2 == 0) & (x // 2 < across)
        result = r * down * across + y // 2 * across + x // 2
        hit = hit & (tl.load(in3 + result, mask=hit, other=255).to(tl.int32) == k)
        n7 += tl.load(in2 + result, mask=hit, other=0).to(A)
    n9 = tl.where(n5 != 0, (0), n7)
    n10 = tl.sum(tl.where(live, n9, 0.0), 0)
    if WANT0:
        tl.store(out0 + at, (tl.zeros([BLOCK], A) + n9).to(out0.dtype.element_ty), mask=live)
    if WANT1:
        tl.store(out1 + r, (tl.sum(tl.zeros([1], A), 0) + n10).to(out1.dtype.element_ty))



def run(which, inputs, places, rows, cols, scalars, outputs, plane) -> None:
    """Computes the same as the operators of the extension: `which` is "forward" or "backward"."""
    if rows * cols == 0:
        return
    by_row = BY_ROW[which]
    if by_row and cols > LONGEST_ROW:
        raise ValueError(f"a row of {cols} elements is too long for the Triton kernel: {LONGEST_ROW} at most")
    block = triton.next_power_of_2(cols) if by_row else 1024
    written = rows * plane[2] * plane[3] if which == "forward" else rows * cols
    grid = (rows,) if by_row else (triton.cdiv(written, block),)
    wanted = [output.numel() > 0 for output in outputs]
    accumulate = tl.float64 if inputs[0].dtype == torch.float64 else tl.float32
    kernel = _forward if which == "forward" else _backward
    with torch.cuda.device_of(inputs[0]):
        kernel[grid](*inputs, *outputs, rows, cols, *plane, *places, *scalars, *wanted, accumulate, block,
                     num_warps=min(max(block // 512, 4), 16))
