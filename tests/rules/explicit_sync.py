# SPDX-License-Identifier: Apache-2.0
"""The program synchronizes each step; the next kernel is launched 200 µs, or 20 µs, after that."""

from recording import Run


def _synchronizes(run: Run, pause: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("train.py(31): train_step", step, 999)
        rank.kernel("gemm", launch=step + pause, start=step + pause + 8, dur=980 - pause)
        rank.call("cudaDeviceSynchronize", step + pause + 10, 981 - pause)


def fires(run: Run) -> None:
    _synchronizes(run, 200)


def silent(run: Run) -> None:
    _synchronizes(run, 20)
