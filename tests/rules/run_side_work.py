# SPDX-License-Identifier: Apache-2.0
"""Four images are written in each step of 10 ms, 1 ms in all, and histograms are logged in every fifth; or the same in another thread, and in
evaluations."""

from recording import Run


def fires(run: Run) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(200, 10_000)):
        agent.beside(step + 1000, 1000, "images: Image.save", "train.py:50", count=4)
        if number % 5 == 4:
            agent.beside(step + 3000, 2500, "logging: SummaryWriter.add_histogram", "train.py:60", count=6)
            agent.beside(step + 6000, 500, "logging: SummaryWriter.add_scalar", "train.py:61")


def silent(run: Run) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(200, 10_000)):
        agent.beside(step + 1000, 1000, "images: Image.save", "train.py:50", count=4, in_thread=True)
        if number % 25 == 24:
            agent.beside(step + 3000, 6000, "metrics: sklearn.metrics.f1_score", "train.py:60", count=6)
            agent.evaluation(step + 2000, 8000, "train.py:12", number)
