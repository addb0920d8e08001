# SPDX-License-Identifier: Apache-2.0
"""A loop takes a row of a tensor and scales it, 20 times; or 15 times, which could be layers."""

from recording import Run


def _loops(run: Run, repeats: int) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("loss.py(14): per_sample", step, 999)
        for number in range(repeats):
            at = step + 20 * number
            rank.operator("aten::select", at, 6, shapes=[[64, 128], [], []], types=["float", "Scalar", "Scalar"])
            rank.operator("aten::mul", at + 8, 10, shapes=[[128], [128]], types=["float", "float"])
            rank.kernel("void at::native::vectorized_elementwise_kernel<4, Mul>", launch=at + 10, start=at + 16, dur=3)
        rank.operator("aten::mm", step + 410, 15)
        rank.kernel("gemm", launch=step + 415, start=step + 425, dur=570)


def fires(run: Run) -> None:
    _loops(run, 20)


def silent(run: Run) -> None:
    _loops(run, 15)
