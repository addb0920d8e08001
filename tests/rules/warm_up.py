# SPDX-License-Identifier: Apache-2.0
"""The first launch takes 1.3 s because it loads the kernels' code; or a hundredth of that, beside a second of work."""

from recording import Run


def _loads(run: Run, launch: float) -> None:
    rank = run.rank()
    rank.operator("aten::mm", 0, launch + 20)
    rank.kernel("gemm", launch=10, start=launch + 12, dur=100, call=launch)
    for number in range(50):
        at = launch + 500 + number * 1000
        rank.operator("aten::mm", at, 20)
        rank.kernel("gemm", launch=at + 2, start=at + 20, dur=975)


def fires(run: Run) -> None:
    _loads(run, 1_300_000)


def silent(run: Run) -> None:
    _loads(run, 13_000)
