# SPDX-License-Identifier: Apache-2.0
"""Three ranks on CPUs: rank 1 reaches the all-reduce 500 µs after the others, or all do at once."""

from recording import Run


def _trains(run: Run, late: float) -> None:
    for number in range(3):
        rank = run.rank(number, world_size=3)
        own = 200 + (late if number == 1 else 0)
        for step in rank.steps(4, 1000):
            rank.operator("aten::mm", step + 5, 195)
            if number == 1:
                rank.python("<built-in function sleep>", step + 200, late, called="train.py:44")
            rank.gloo(step + own, 300 + late - own)
            rank.operator("aten::add_", step + 310 + late, 80)


def fires(run: Run) -> None:
    _trains(run, 500)


def silent(run: Run) -> None:
    _trains(run, 10)
