# SPDX-License-Identifier: Apache-2.0
"""The device waits 300 µs of a millisecond while gradients go through gloo; or the host exchanges a counter beside it."""

from recording import Run


def _reduces(run: Run, dur: float) -> None:
    for number in range(2):
        rank = run.rank(number, backend="gloo")
        for step in rank.steps(3, 1000):
            rank.kernel("gemm", launch=step, start=step + 10, dur=980 - dur)
            rank.operator("gloo:all_reduce", step + 990 - dur, dur, shapes=[[1048576]], types=["float"])


def fires(run: Run) -> None:
    _reduces(run, 300)


def silent(run: Run) -> None:
    _reduces(run, 5)
