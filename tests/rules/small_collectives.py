# SPDX-License-Identifier: Apache-2.0
"""Twenty all-reduces of 4 KiB a step, 20 µs each, after the computation; or one of as many bytes."""

from recording import Run


def _reduces(run: Run, calls: int, elements: int) -> None:
    for number in range(2):
        rank = run.rank(number)
        for step in rank.steps(2, 1000):
            rank.kernel("gemm", launch=step, start=step + 10, dur=500)
            for call in range(calls):
                at = 510 + call * 20
                rank.nccl(launch=step + 5 + call * 5, start=step + at, dur=20, elements=elements)
            rank.kernel("adam", launch=step + 200, start=step + 910, dur=80)


def fires(run: Run) -> None:
    _reduces(run, 20, 1024)


def silent(run: Run) -> None:
    _reduces(run, 1, 20 * 1024)
