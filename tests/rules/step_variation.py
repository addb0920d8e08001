# SPDX-License-Identifier: Apache-2.0
"""One of ten steps takes three times as long because its batch is late; or only the first of the recording does."""

from recording import Run


def _steps(run: Run, slow: int) -> None:
    rank = run.rank()
    at = 0.0
    for number in range(10):
        load = 2000 if number == slow else 20
        rank.step(number, at, 1000 + load)
        rank.loader(at, load, "_MultiProcessingDataLoaderIter")
        rank.kernel("gemm", launch=at + load + 2, start=at + load + 8, dur=990)
        at += 1000 + load


def fires(run: Run) -> None:
    _steps(run, 6)


def silent(run: Run) -> None:
    _steps(run, 0)
