# SPDX-License-Identifier: Apache-2.0
"""The allocator holds 96 % of an 80 GB device, or 60 %."""

from recording import A100, Run


def _fills(run: Run, share: float) -> None:
    rank = run.rank(0, world_size=1, device=A100)
    held = int(84_987_740_160 * share)
    for step in rank.steps(2, 1000):
        rank.operator("aten::empty", step + 1, 5)
        rank.memory(step + 3, 1 << 30, held - (12 << 30), held)
        rank.kernel("gemm", launch=step + 8, start=step + 20, dur=970)
        rank.memory(step + 900, -(1 << 30), held - (13 << 30), held)


def fires(run: Run) -> None:
    _fills(run, 0.96)


def silent(run: Run) -> None:
    _fills(run, 0.6)
