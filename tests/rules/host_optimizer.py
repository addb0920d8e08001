# SPDX-License-Identifier: Apache-2.0
"""On the CPU, AdamW runs 80 operators in 400 µs of every millisecond, or one."""

from recording import Run


def _trains(run: Run, operators: int) -> None:
    rank = run.rank()
    for step in rank.steps(4, 1000):
        rank.operator("aten::mm", step + 5, 500)
        rank.annotation("Optimizer.step#AdamW.step", step + 550, 400)
        for number in range(operators):
            rank.operator("aten::mul_", step + 552 + number * 390 / operators, 300 / operators)


def fires(run: Run) -> None:
    _trains(run, 80)


def silent(run: Run) -> None:
    _trains(run, 1)
