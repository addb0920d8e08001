# SPDX-License-Identifier: Apache-2.0
"""Pages of managed memory move for a fifth of the time beside kernels of a program in C++; or for a fiftieth."""

from recording import Run


def _touches(run: Run, dur: int) -> None:
    rows: list[tuple[int, int, str]] = []
    for start in range(1000, 100_000, 1000):
        rows += [(start, 950, "add"), (start + 10, dur, "[CUDA Unified Memory memcpy HtoD]")]
    run.gpu_report(rows)


def fires(run: Run) -> None:
    _touches(run, 200)


def silent(run: Run) -> None:
    _touches(run, 20)
