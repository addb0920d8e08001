# SPDX-License-Identifier: Apache-2.0
"""On the CPU, without a recording, the steps wait 3 ms of every 10 for their batch, or 0.1."""

from recording import Run


def _trains(run: Run, wait: float) -> None:
    agent = run.agent()
    agent.loader(0, "train.py:41")
    for step in agent.steps(40, 10_000, wait):
        agent.wait(step, wait)


def fires(run: Run) -> None:
    _trains(run, 3000)


def silent(run: Run) -> None:
    _trains(run, 100)
