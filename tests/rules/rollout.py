# SPDX-License-Identifier: Apache-2.0
"""On the CPU, a rollout of 64 environment steps takes 7 ms of every 10, or two environment steps take 0.2."""

from recording import Run


def _trains(run: Run, length: float, count: int) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(40, 10_000)):
        agent.rollout(step, length, number, count, stepping=length / 2)


def fires(run: Run) -> None:
    _trains(run, 7000, 64)


def silent(run: Run) -> None:
    _trains(run, 200, 2)
