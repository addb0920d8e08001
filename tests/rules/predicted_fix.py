# SPDX-License-Identifier: Apache-2.0
"""On the CPU, twenty long pointwise operators a step, which compiling joins, or twenty products, which stay as they are."""

from recording import Run


def _trains(run: Run, operator: str) -> None:
    rank = run.rank()
    for step in rank.steps(6, 10_000):
        for number in range(20):
            rank.operator(operator, step + 2 + number * 495, 490)


def fires(run: Run) -> None:
    _trains(run, "aten::add")


def silent(run: Run) -> None:
    _trains(run, "aten::mm")
