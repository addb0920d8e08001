# SPDX-License-Identifier: Apache-2.0
"""A checkpoint of 5 ms is written in every 10th step of 10 ms, or every 400th; six steps may show none, one or two."""

from recording import Run


def _trains(run: Run, every: int) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(800, 10_000)):
        if number % every == every - 1:
            agent.save(step + 1000, 5000, "train.py:50")


def fires(run: Run) -> None:
    _trains(run, 10)


def silent(run: Run) -> None:
    _trains(run, 400)
