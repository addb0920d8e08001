# SPDX-License-Identifier: Apache-2.0
"""Each of 300 steps of 20 ms keeps 4 MB; or the first 60 fill a cache of 1 GB and nothing is kept after that."""

from recording import Run


def _holds(run: Run, kept: float, cache: float) -> None:
    agent, telemetry = run.agent(0), run.telemetry()
    for number, step in enumerate(agent.steps(300, 20_000)):
        if number % 5 == 0:
            held = 500e6 + number * kept + min(number / 60, 1) * cache
            telemetry.host(step, process_resident=held, host_memory_available=16e9 - held)


def fires(run: Run) -> None:
    _holds(run, 4e6, 0)


def silent(run: Run) -> None:
    _holds(run, 0, 1e9)
