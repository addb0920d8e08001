# SPDX-License-Identifier: Apache-2.0
"""On two ranks gradients add up over four passes, and are exchanged after each of them, or after the last one."""

from recording import Run


def _accumulates(run: Run, passes_that_exchange: range) -> None:
    for number in (0, 1):
        rank = run.rank(number, 2)
        for step in rank.steps(4, 2000):
            for index in range(4):
                at = step + 10 + 450 * index
                rank.annotation("DistributedDataParallel.forward", at, 100)
                rank.operator("aten::mm", at + 5, 90)
                if index in passes_that_exchange:
                    rank.operator("c10d::allreduce_", at + 200, 10)
                    rank.gloo(at + 215, 200)
            rank.annotation("Optimizer.step#SGD.step", step + 1850, 40)


def fires(run: Run) -> None:
    _accumulates(run, range(4))


def silent(run: Run) -> None:
    _accumulates(run, range(3, 4))
