# SPDX-License-Identifier: Apache-2.0
"""A run uses 20 of 80 GB and keeps the GPU busy for 60 % of the time; or 60 GB, or all of the time."""

from recording import Run


def _samples(run: Run, used: float, utilization: float) -> None:
    for _ in run.agent().steps(100, 100_000):
        pass
    telemetry = run.telemetry()
    for number in range(100):
        telemetry.sample(number * 100_000, utilization=utilization, memory_used=used)


def fires(run: Run) -> None:
    _samples(run, 20e9, 0.6)


def silent(run: Run) -> None:
    _samples(run, 20e9, 0.95)
    _samples(run, 60e9, 0.6)
