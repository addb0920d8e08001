# SPDX-License-Identifier: Apache-2.0
"""On the CPU, an optimiser's own Python takes a fifth of a step, which one fused call replaces, or products take all of it."""

from recording import Run


def _trains(run: Run, updates_us: float) -> None:
    rank = run.rank()
    for step in rank.steps(6, 10_000):
        for number in range(20):
            rank.operator("aten::mm", step + 2 + number * 400, 390)
        if updates_us:
            rank.annotation("Optimizer.step#AdamW.step", step + 8100, updates_us)


def fires(run: Run) -> None:
    _trains(run, 1850)


def silent(run: Run) -> None:
    _trains(run, 0)
