# SPDX-License-Identifier: Apache-2.0
"""On the CPU, Python collects garbage for 200 µs of every millisecond, or for 10."""

from recording import Run


def _trains(run: Run, garbage: float) -> None:
    rank = run.rank()
    for step in rank.steps(4, 1000):
        rank.operator("aten::mm", step + 5, 700)
        rank.python("Python GC", step + 750, garbage)


def fires(run: Run) -> None:
    _trains(run, 200)


def silent(run: Run) -> None:
    _trains(run, 10)
