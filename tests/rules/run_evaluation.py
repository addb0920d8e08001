# SPDX-License-Identifier: Apache-2.0
"""After every 7th step of 10 ms the model is evaluated for 5 ms, or after every 100th."""

from recording import Run


def _trains(run: Run, every: int) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(800, 10_000)):
        if number % every == every - 1:
            agent.evaluation(step + 4000, 5000, "train.py:12", number)


def fires(run: Run) -> None:
    _trains(run, 7)


def silent(run: Run) -> None:
    _trains(run, 100)
