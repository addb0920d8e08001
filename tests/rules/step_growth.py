# SPDX-License-Identifier: Apache-2.0
"""A hook is added in each of 200 steps, which take 1 to 5 ms; or they take 1 ms in the first half and 5 ms in the second."""

from recording import Run


def fires(run: Run) -> None:
    agent, at = run.agent(0), 0.0
    for number in range(200):
        agent.step(number, at, 1000 + 20 * number)
        at += 1000 + 20 * number
    rank, begin = run.rank(0, world_size=1), 0.0
    for number in range(6):
        rank.step(8 + number, begin, 5000)
        for hook in range(8 + number):
            rank.python("train.py(7): keep_mean", begin + 100 * hook, 90, called="torch/nn/modules/module.py:1800")
            rank.operator("aten::mean", begin + 100 * hook + 10, 70)
        begin += 5000


def silent(run: Run) -> None:
    agent, at = run.agent(0), 0.0
    for number in range(200):
        dur = 1000 if number < 100 else 5000
        agent.step(number, at, dur)
        at += dur
