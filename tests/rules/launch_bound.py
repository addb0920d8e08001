# SPDX-License-Identifier: Apache-2.0
"""Operators that take 20 µs on the host each; their kernels take 5 µs, or 100 µs."""

from recording import Run


def _launches(run: Run, kernel: float) -> None:
    rank = run.rank()
    each = max(20.0, kernel)
    for step in rank.steps(2, 100 * each):
        for number in range(100):
            host = step + number * 20
            rank.operator("aten::add", host, 19)
            rank.kernel("add", launch=host + 5, start=max(host + 11, step + 11 + number * each), dur=kernel)


def fires(run: Run) -> None:
    _launches(run, 5)


def silent(run: Run) -> None:
    _launches(run, 100)
