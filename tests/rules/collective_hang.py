# SPDX-License-Identifier: Apache-2.0
"""Rank 1 does not call the third collective while rank 0 waits in it; or both are done with what both called."""

from comm_recording import call, dump
from recording import Run


def fires(run: Run) -> None:
    run.file("nccl_trace_rank_0", dump([call(1), call(2), call(3, state="started", line=57)]))
    run.file("nccl_trace_rank_1", dump([call(1), call(2, line=44)]))


def silent(run: Run) -> None:
    for rank in range(2):
        run.file(f"nccl_trace_rank_{rank}", dump([call(1), call(2)]))
