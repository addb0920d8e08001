# SPDX-License-Identifier: Apache-2.0
"""Two ranks all-reduce for 300 µs of a millisecond, after the computation or under it."""

from recording import Run


def _reduces(run: Run, begin: float) -> None:
    for number in range(2):
        rank = run.rank(number)
        for step in rank.steps(2, 1000):
            rank.kernel("gemm", launch=step, start=step + 10, dur=600)
            rank.nccl(launch=step + 5, start=step + begin, dur=300, elements=1 << 22)
            rank.kernel("gemm", launch=step + 15, start=step + max(610, begin + 300), dur=80)


def fires(run: Run) -> None:
    _reduces(run, 610)


def silent(run: Run) -> None:
    _reduces(run, 300)
