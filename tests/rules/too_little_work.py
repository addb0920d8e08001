# SPDX-License-Identifier: Apache-2.0
"""One kernel of 20 µs in half a second; or kernels that fill a twentieth of it."""

from recording import Run


def _kernels(run: Run, count: int) -> None:
    rank = run.rank()
    rank.operator("aten::mm", 0, 30)
    for number in range(count):
        rank.kernel("gemm", launch=5 + number * 1000, start=20 + number * 1000, dur=900)
    rank.operator("aten::add", 499_000, 1000)


def fires(run: Run) -> None:
    _kernels(run, 1)


def silent(run: Run) -> None:
    _kernels(run, 30)
