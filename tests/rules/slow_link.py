# SPDX-License-Identifier: Apache-2.0
"""Sixteen ranks all-reduce along rows and along columns of a grid; transfers through rank 6 take twice as long, or a tenth longer."""

from recording import Run


def _meets(run: Run, slower: float) -> None:
    for number in range(16):
        rank = run.rank(number, world_size=16)
        row, column = divmod(number, 4)
        for step in rank.steps(5, 1000):
            rank.kernel("gemm", launch=step, start=step + 10, dur=490)
            first = 100.0 * (slower if row == 1 else 1)
            rank.nccl(launch=step + 5, start=step + 500, dur=first, world_size=4, group=f"row{row}")
            second = 100.0 * (slower if column == 2 else 1)
            rank.nccl(launch=step + 8, start=step + 500 + first, dur=second, world_size=4, group=f"column{column}")
            rank.kernel("adam", launch=step + 15, start=step + 920, dur=80)


def fires(run: Run) -> None:
    _meets(run, 2)


def silent(run: Run) -> None:
    _meets(run, 1.1)
