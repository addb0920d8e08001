# SPDX-License-Identifier: Apache-2.0
"""Three steps in which a kernel in blocks of 8 threads takes most of the time; or in blocks of 256."""

from recording import Run


def _steps(run: Run, threads: int) -> None:
    rank = run.rank()
    for step in rank.steps(3, 10_000):
        rank.kernel(
            "my_sum(float*, int)",
            launch=step + 10,
            start=step + 30,
            dur=8_000,
            grid=[4096, 1, 1],
            block=[threads, 1, 1],
        )


def fires(run: Run) -> None:
    _steps(run, threads=8)


def silent(run: Run) -> None:
    _steps(run, threads=256)
