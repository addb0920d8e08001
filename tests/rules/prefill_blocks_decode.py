# SPDX-License-Identifier: Apache-2.0
"""Every fifth iteration of an engine also computes a prompt, for ten times as long as a decode iteration or for twice."""

from recording import H100, Run


def _serves(run: Run, times: int) -> None:
    rank, at = run.rank(device=H100), 0.0
    for number in range(20):
        prefill = number % 5 == 2
        dur = 2_000 * (times if prefill else 1)
        rank.kernel("gemm", launch=at + 5, start=at + 20, dur=dur - 20)
        new = "1(4096)" if prefill else "0(0)"
        rank.annotation(f"execute_context_{new}_generation_32(32)", at, dur)
        at += dur


def fires(run: Run) -> None:
    _serves(run, 10)


def silent(run: Run) -> None:
    _serves(run, 2)
