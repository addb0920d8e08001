# SPDX-License-Identifier: Apache-2.0
"""Python collects garbage for 150 µs of every millisecond while the device is idle, or under a long kernel."""

from recording import Run


def _collects(run: Run, kernel: float) -> None:
    rank = run.rank()
    for step in rank.steps(4, 1000):
        rank.kernel("gemm", launch=step, start=step + 10, dur=kernel)
        rank.python("train.py(52): train_step", step + 605, 190)
        rank.python("Python GC", step + 610, 150)
        rank.kernel("adam", launch=step + 800, start=step + 900, dur=95)


def fires(run: Run) -> None:
    _collects(run, 590)


def silent(run: Run) -> None:
    _collects(run, 880)
