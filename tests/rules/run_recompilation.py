# SPDX-License-Identifier: Apache-2.0
"""torch.compile compiles again every fifth step, for 400 µs; or once, and as often for the first time."""

from gapless_agent import layout
from recording import Run

REASON = "forward (model.py:12): tensor 'x' size mismatch at index 0. expected 64, actual 48"


def fires(run: Run) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(40, 1000)):
        if number % 5 == 4:
            agent.compiled(step + 100, 400, REASON, layout.COMPILED_AGAIN)
    agent.compiled(9000, 0, "call of a function that is not known: print (train.py:7)", layout.GRAPH_BREAK)


def silent(run: Run) -> None:
    agent = run.agent()
    for number, step in enumerate(agent.steps(40, 1000)):
        agent.compiled(step + 100, 400, "forward (model.py:12)")
        if number == 30:
            agent.compiled(step + 600, 100, REASON, layout.COMPILED_AGAIN)
