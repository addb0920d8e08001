# SPDX-License-Identifier: Apache-2.0
"""40 kernels of 5 µs, queued in time and 2 µs apart, take a quarter of each step; or 40 of 12 µs do."""

from recording import Run


def _runs(run: Run, dur: float) -> None:
    rank = run.rank()
    each = dur + 2
    for step in rank.steps(3, 500 + 40 * each):
        rank.operator("aten::mm", step, 4)
        rank.kernel("gemm", launch=step + 1, start=step + 6, dur=490, call=2)
        for number in range(40):
            rank.operator("aten::mul", step + 5 + 5 * number, 4)
            rank.kernel(
                "void at::native::vectorized_elementwise_kernel<4, Mul>",
                launch=step + 6 + 5 * number,
                start=step + 498 + each * number,
                dur=dur,
                call=2,
            )


def fires(run: Run) -> None:
    _runs(run, 5)


def silent(run: Run) -> None:
    _runs(run, 12)
