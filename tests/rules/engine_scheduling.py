# SPDX-License-Identifier: Apache-2.0
"""Between two decode iterations of 3 ms SGLang chooses the next batch, for 1 ms or for 50 µs."""

from recording import H100, Run


def _decodes(run: Run, schedule: float) -> None:
    rank, at = run.rank(device=H100), 0.0
    for _ in range(8):
        rank.annotation("step[DECODE bs=64]", at, 3_000)
        rank.kernel("gemm", launch=at + 5, start=at + 15, dur=2_985)
        at += 3_000
        rank.python("sglang/srt/managers/scheduler.py(1500): get_next_batch_to_run", at, schedule)
        at += schedule


def fires(run: Run) -> None:
    _decodes(run, 1_000)


def silent(run: Run) -> None:
    _decodes(run, 50)
