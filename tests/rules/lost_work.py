# SPDX-License-Identifier: Apache-2.0
"""Three steps of forty kernels each, of which every tenth has no time; or one of them all."""

from recording import Run


def _steps(run: Run, lost: int) -> None:
    rank = run.rank()
    for step in rank.steps(3, 10_000):
        for number in range(40):
            at = 1_000 + step + number * 200
            has_time = lost == 0 or number % lost != 0
            rank.kernel("gemm", launch=at, start=at + 20 if has_time else 0, dur=150 if has_time else 0)


def fires(run: Run) -> None:
    _steps(run, lost=10)


def silent(run: Run) -> None:
    _steps(run, lost=0)
