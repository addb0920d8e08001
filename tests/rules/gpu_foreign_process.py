# SPDX-License-Identifier: Apache-2.0
"""A process of somebody else is on the GPU in six of ten samples, or in none."""

from recording import Run


def _samples(run: Run, foreign: int) -> None:
    telemetry = run.telemetry()
    for number in range(100):
        theirs = float(number % 10 < foreign)
        telemetry.sample(number * 100_000, utilization=1.0, processes_foreign=theirs, memory_foreign=theirs * 4e9)


def fires(run: Run) -> None:
    _samples(run, 6)


def silent(run: Run) -> None:
    _samples(run, 0)
