# SPDX-License-Identifier: Apache-2.0
"""Rank 1 runs the same kernels 30 % more slowly and comes last to all collectives, or 3 %."""

from recording import Run


def _trains(run: Run, late: float) -> None:
    for number in range(3):
        rank = run.rank(number, world_size=3)
        own = 600 + (late if number == 1 else 0)
        for step in rank.steps(4, 1000):
            rank.kernel("gemm", launch=step, start=step + 10, dur=own)
            rank.nccl(launch=step + 5, start=step + 10 + own, dur=700 + late - own, world_size=3)
            rank.kernel("adam", launch=step + 15, start=step + 720 + late, dur=80)


def fires(run: Run) -> None:
    _trains(run, 180)


def silent(run: Run) -> None:
    _trains(run, 20)
