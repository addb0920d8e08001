# SPDX-License-Identifier: Apache-2.0
"""The scheduler takes the blocks of requests away in every fourth of 16 iterations, or of one request in all."""

from recording import H100, Run


def _serves(run: Run, every: int) -> None:
    rank, at = run.rank(device=H100), 0.0
    for number in range(16):
        again = number % 4 == 1
        dur = 4_000 if again else 2_000
        rank.python("vllm/v1/core/sched/scheduler.py(210): schedule", at, 60)
        if number % every == 0:
            rank.python("vllm/v1/core/sched/scheduler.py(640): _preempt_request", at + 20, 10)
        rank.kernel("gemm", launch=at + 70, start=at + 80, dur=dur - 90)
        new = "1(900)" if again else "0(0)"
        rank.annotation(f"execute_context_{new}_generation_60(60)", at, dur)
        at += dur


def fires(run: Run) -> None:
    _serves(run, 4)


def silent(run: Run) -> None:
    _serves(run, 100)
