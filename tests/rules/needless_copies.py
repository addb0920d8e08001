# SPDX-License-Identifier: Apache-2.0
"""The same tensor is converted to half precision each step, in 100 µs or in 30 µs of a millisecond."""

from recording import Run

SHAPES = [[64, 3, 224, 224], [64, 3, 224, 224], []]


def _converts(run: Run, dur: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("model.py(18): forward", step, 999)
        rank.operator("aten::to", step, 12, shapes=SHAPES[1:], types=["float", "Scalar"])
        rank.operator("aten::_to_copy", step + 1, 10, shapes=SHAPES[1:], types=["float", "Scalar"])
        rank.operator("aten::copy_", step + 2, 8, shapes=SHAPES, types=["c10::Half", "float", "Scalar"])
        rank.kernel(
            "void at::native::elementwise_kernel<copy>", launch=step + 3, start=step + 10, dur=dur, grid=[900, 1, 1]
        )
        rank.kernel("gemm", launch=step + 15, start=step + 10 + dur, dur=985 - dur)


def fires(run: Run) -> None:
    _converts(run, 100)


def silent(run: Run) -> None:
    _converts(run, 30)
