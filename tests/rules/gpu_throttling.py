# SPDX-License-Identifier: Apache-2.0
"""A GPU is too hot in a quarter of the samples, and runs at 1200 MHz instead of 1800; or in one of a hundred."""

from recording import Run


def _samples(run: Run, every: int) -> None:
    telemetry = run.telemetry()
    for number in range(100):
        hot = number % every == 0
        telemetry.sample(
            number * 100_000,
            utilization=0.98,
            clock_sm=1.2e9 if hot else 1.8e9,
            throttle_hw_thermal=float(hot),
            temperature=91.0 if hot else 84.0,
        )


def fires(run: Run) -> None:
    _samples(run, 4)


def silent(run: Run) -> None:
    _samples(run, 100)
