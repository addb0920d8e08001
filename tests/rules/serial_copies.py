# SPDX-License-Identifier: Apache-2.0
"""A program in C++ copies for 400 µs and computes for 600 µs in turns, in one stream; or in two."""

from recording import Run


def _turns(run: Run, kernels: int) -> None:
    rows: list[tuple[int, int, str]] = []
    for start in range(1000, 100_000, 1000):
        rows += [(start, 400, "[CUDA memcpy Host-to-Device]"), (start + 400, 600, "add")]
    run.gpu_report(rows, kernels=kernels)


def fires(run: Run) -> None:
    _turns(run, 7)


def silent(run: Run) -> None:
    _turns(run, 8)
