# SPDX-License-Identifier: Apache-2.0
"""On the CPU, 700 µs of every millisecond are spent parsing in Python, most of it in json; or 100."""

from recording import Run


def _trains(run: Run, parsing: float) -> None:
    rank = run.rank()
    rank.python("train.py(40): main", 0, 4000)
    for step in rank.steps(4, 1000):
        rank.python("data.py(12): parse", step + 10, parsing, called="train.py:44")
        rank.python("json/decoder.py(332): decode", step + 20, parsing - 50, called="data.py:15")
        rank.operator("aten::mm", step + 20 + parsing, 960 - parsing)


def fires(run: Run) -> None:
    _trains(run, 700)


def silent(run: Run) -> None:
    _trains(run, 100)
