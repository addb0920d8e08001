# SPDX-License-Identifier: Apache-2.0
"""A GPU does nothing in 40 of 100 samples, at its power limit in the others; or works in all of them, below the limit."""

from recording import Run


def _samples(run: Run, idle: int, watts: float) -> None:
    telemetry = run.telemetry()
    for number in range(100):
        works = number >= idle
        telemetry.sample(
            number * 100_000, utilization=0.97 if works else 0.0, power=watts if works else 60.0, power_limit=400.0
        )


def fires(run: Run) -> None:
    _samples(run, 40, 398.0)


def silent(run: Run) -> None:
    _samples(run, 0, 300.0)
