# SPDX-License-Identifier: Apache-2.0
"""On the CPU, 100 operators of 4 µs in a millisecond, or two of 400."""

from recording import Run


def _trains(run: Run, operators: int) -> None:
    rank = run.rank()
    for step in rank.steps(4, 1000):
        for number in range(operators):
            rank.operator("aten::add", step + 2 + number * 990 / operators, 400 / operators)


def fires(run: Run) -> None:
    _trains(run, 100)


def silent(run: Run) -> None:
    _trains(run, 2)
