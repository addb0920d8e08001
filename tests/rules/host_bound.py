# SPDX-License-Identifier: Apache-2.0
"""After each step the program writes a picture for 2 ms of 10, or for 0.5 ms, and launches nothing."""

from recording import Run


def _draws(run: Run, pause: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 10_000):
        rank.python("train.py(88): train_step", step, 9_999)
        rank.python("visualize.py(12): write_image", step + 1, pause - 2)
        rank.kernel("gemm", launch=step + pause, start=step + pause + 10, dur=9_980 - pause)


def fires(run: Run) -> None:
    _draws(run, 2_000)


def silent(run: Run) -> None:
    _draws(run, 500)
