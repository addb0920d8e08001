# SPDX-License-Identifier: Apache-2.0
"""GradScaler skips 40 of 400 steps, or the first 10, in which it looks for its scale."""

from recording import Run


def fires(run: Run) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(400, 1000, skipped=range(100, 140))):
        if number % 10 == 0:
            agent.scale(step, 65536.0 if number < 100 else 128.0 if number < 300 else 256.0)


def silent(run: Run) -> None:
    list(run.agent().steps(400, 1000, skipped=range(10)))
