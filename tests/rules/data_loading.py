# SPDX-License-Identifier: Apache-2.0
"""A loader without workers takes 30 % of each step, or 3 %."""

from recording import Run


def _loads(run: Run, load: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.loader(step, load)
        rank.copy("HtoD (Pageable -> Device)", launch=step + load, start=step + load + 4, dur=6)
        rank.kernel("gemm", launch=step + load + 5, start=step + load + 10, dur=990 - load)


def fires(run: Run) -> None:
    _loads(run, 300)


def silent(run: Run) -> None:
    _loads(run, 30)
