# SPDX-License-Identifier: Apache-2.0
"""Bandwidth falls from 200 to 120 GB/s between 64 and 128 MiB; or the log has no results of a benchmark."""

from comm_recording import benchmark, log
from recording import Run

MIB = 1 << 20


def fires(run: Run) -> None:
    sizes = [(8, 12.9, 0.0, 0), (16 * MIB, 112.0, 150.0, 0), (64 * MIB, 335.5, 200.0, 0), (128 * MIB, 1118.5, 120.0, 0)]
    run.file("nccl.log", benchmark(sizes))


def silent(run: Run) -> None:
    run.file("nccl.log", log("NCCL version 2.27.7+cuda12.9", "Using network IB").encode())
