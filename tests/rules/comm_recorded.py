# SPDX-License-Identifier: Apache-2.0
"""Rank 2 comes last to every all_reduce, so its calls are the shortest; or nothing is recorded of how long calls take."""

from comm_recording import call, dump, inspected
from recording import Run


def fires(run: Run) -> None:
    for rank in range(4):
        run.file(f"rank{rank}.inspector.log", inspected(rank, [100.0 if rank == 2 else 400.0] * 40))


def silent(run: Run) -> None:
    for rank in range(2):
        run.file(f"nccl_trace_rank_{rank}", dump([call(1), call(2)]))
