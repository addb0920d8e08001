# SPDX-License-Identifier: Apache-2.0
"""Python collects garbage for 300 µs of every millisecond, or for 10, as the agent sees without a recording."""

from recording import Run


def _trains(run: Run, garbage: float) -> None:
    agent = run.agent()
    for step in agent.steps(40, 1000):
        agent.garbage(step + 100, garbage)


def fires(run: Run) -> None:
    _trains(run, 300)


def silent(run: Run) -> None:
    _trains(run, 10)
