# SPDX-License-Identifier: Apache-2.0
# norm_gate in Triton.
# aten::native_layer_norm > aten::sigmoid > aten::mul
"""The kernels of norm_gate in Triton, called by norm_gate.py."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# For each direction: does a program compute a row? Else a stretch of elements, of any rows.
BY_ROW = {"forward": True, "backward": True}
LONGEST_ROW = 65536  # elements of a row that a program can hold


@triton.jit
def _pow(a, b):
    whole = tl.floor(b)
    size = tl.exp2(b * tl.log2(tl.where(a == 0, 1.0, tl.abs(a))))
    odd = whole - 2 * tl.floor(whole / 2)
    negative = tl.where(b == whole, tl.where(odd != 0, -size, size), float("nan"))
    return tl.where(a > 0, size, tl.where(a < 0, negative, tl.where(b == 0, 1.0, tl.where(b > 0, 0.0, float("inf")))))


@triton.jit
def _forward(in0, in1, in2, in3, out0, rows, cols, div0, mod0, row0, col0, div1, mod1, row1, col1, div2, mod2, row2, col2, div3, mod3, row3, col3, s0, WANT0: tl.constexpr, A: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    live = c < cols
    at = r * cols + c
    n0 = tl.load(in0 + ((r // div0) % mod0) * row0 + c * col0, mask=live, other=0).to(A)
    n1 = tl.load(in1 + ((r // div1) % mod1) * row1 + c * col1, mask=live, other=0).to(A)
    n2 = tl.load(in2 + ((r // div2) % mod2) * row2 + c * col2, mask=live, other=0).to(A)
    n3 = s0
    n4 = tl.sum(tl.where(live, n0, 0.0), 0)
    n6 = cols * 1.0
    n7 = (n4 / n6)
    n8 = (n0 - n7)
    n9 = (n8 * n8)
    n10 = tl.sum(tl.where(live, n9, 0.0), 0)
    n11 = (n10 / n6)
    n12 = (n3 + n11)
    n13 = (1 / tl.sqrt(n12))
    n14 = (n8 * n13)
    n15 = (n1 * n14)
    n16 = (n2 + n15)
    n17 = tl.sigmoid(n16)
    n18 = tl.load(in3 + ((r // div3) % mod3) * row3 + c * col3, mask=live, other=0).to(A)
    n19 = (n17 * n18)
    if WANT0:
        tl.store(out0 + at, (tl.zeros([BLOCK], A) + n19).to(out0.dtype.element_ty), mask=live)


@triton.jit
def _backward(in0, in1, in2, in3, in4, out0, out1, out2, out3, rows, cols, div0, mod0, row0, col0, div1, mod1, row1, col1, div2, mod2, row2, col2, div3, mod3, row3, col3, div4, mod4, row4, col4, s0, WANT0: tl.constexpr, WANT1: tl.constexpr, WANT2: tl.constexpr, WANT3: tl.constexpr, A: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    live = c < cols
    at = r * cols + c
    n0 = tl.load(in0 + ((r // div0) % mod0) * row0 + c * col0, mask=live, other=0).to(A)
    n1 = tl.load(in1 + ((r // div1) % mod1) * row1 + c * col1, mask=live, other=0).to(A)
    n2 = tl.load(in2 + ((r // div2) % mod2) * row2 + c * col2, mask=live, other=0).to(A)
    n3 = s0
    n4 = tl.sum(tl.where(live, n0, 0.0), 0)
    n6 = cols * 1.0
    n7 = (n4 / n6)
    n8 = (n0 - n7)
    n9 = (n8 * n8)
    n10 = tl.sum(tl.where(live, n9, 0.0), 0)
    n11 = (n10 / n6)
    n12 = (n3 + n11)
    n13 = (1 / tl.sqrt(n12))
    n14 = (n8 * n13)
    n15 = (n1 * n14)
    n16 = (n2 + n15)
    n17 = tl.sigmoid(n16)
    n18 = tl.load(in3 + ((r // div3) % mod3) * row3 + c * col3, mask=live, other=0).to(A)
    n20 = tl.load(in4 + ((r // div4) % mod4) * row4 + c * col4, mask=live, other=0).to(A)
    n21 = (n18 * n20)
    n22 = (n17 * n20)
    n23 = (n17 * n21)
    n24 = ((1) - n17)
    n25 = (n23 * n24)
    n26 = (n14 * n25)
    n27 = (n1 * n25)
    n28 = (n13 * n27)
    n29 = (n8 * n27)
    n30 = tl.sum(tl.where(live, n29, 0.0), 0)
    n33 = (n30 * (-0.5))
    n34 = (n13 * n33)
    n35 = (n34 / n12)
    n36 = (n35 / n6)
    n37 = (n8 * n36)
    n38 = (n28 + n37)
    n39 = (n37 + n38)
    n40 = (-n39)
    n41 = tl.sum(tl.where(live, n40, 0.0), 0)
    n42 = (n41 / n6)
    n43 = (n39 + n42)
    if WANT0:
        tl.store(out0 + at, (tl.zeros([BLOCK], A) + n43).to(out0.dtype.element_ty), mask=live)
    if WANT1:
        tl.store(out1 + at, (tl.zeros([BLOCK], A) + n26).to(out1.dtype.element_ty), mask=live)
    if WANT2:
        tl.store(out2 + at, (tl.zeros([BLOCK], A) + n25).to(out2.dtype.element_ty), mask=live)
    if WANT3:
        tl.store(out3 + at, (tl.zeros([BLOCK], A) + n22).to(out3.dtype.element_ty), mask=live)



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
