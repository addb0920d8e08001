# SPDX-License-Identifier: Apache-2.0
"""One of four steps ends with torch.save, which holds the loop for two milliseconds; or for fifty microseconds."""

from recording import Run


def _saves(run: Run, dur: float) -> None:
    rank = run.rank()
    at = 0.0
    for number in range(4):
        saving = dur if number == 2 else 0
        rank.step(number, at, 1000 + saving)
        rank.kernel("gemm", launch=at, start=at + 10, dur=985)
        if saving:
            rank.python("train.py(77): save", at + 998, saving)
            rank.python("torch/serialization.py(965): save", at + 998.5, saving - 1)
            rank.python("torch/serialization.py(1202): _save", at + 999, saving - 2)
        at += 1000 + saving


def fires(run: Run) -> None:
    _saves(run, 2000)


def silent(run: Run) -> None:
    _saves(run, 50)
