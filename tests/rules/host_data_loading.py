# SPDX-License-Identifier: Apache-2.0
"""On the CPU, a batch takes 600 µs of every millisecond, or 30."""

from recording import Run


def _trains(run: Run, loading: float) -> None:
    rank = run.rank()
    for step in rank.steps(4, 1000):
        rank.loader(step + 5, loading)
        rank.operator("aten::mm", step + 10 + loading, 900 - loading)


def fires(run: Run) -> None:
    _trains(run, 600)


def silent(run: Run) -> None:
    _trains(run, 30)
