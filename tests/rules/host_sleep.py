# SPDX-License-Identifier: Apache-2.0
"""The training process sleeps for 200 µs of every millisecond, or for 20; a device waits for it, or is busy."""

from recording import Run


def _trains(run: Run, asleep: float, device: bool) -> None:
    rank = run.rank()
    rank.python("train.py(40): main", 0, 4000)
    for step in rank.steps(4, 1000):
        rank.python("<built-in function sleep>", step + 10, asleep, called="train.py:44")
        if device:
            rank.kernel("gemm", launch=step + asleep + 20, start=step + asleep + 30, dur=965 - asleep)
        else:
            rank.operator("aten::mm", step + asleep + 20, 970 - asleep)


def fires(run: Run) -> None:
    _trains(run, 200, False)


def silent(run: Run) -> None:
    _trains(run, 20, False)
