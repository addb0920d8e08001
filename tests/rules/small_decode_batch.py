# SPDX-License-Identifier: Apache-2.0
"""An engine decodes 10 times, with 3 requests or with 48."""

from recording import H100, Run


def _decodes(run: Run, batch: int) -> None:
    rank = run.rank(device=H100)
    for number in range(10):
        at = number * 5_000.0
        rank.annotation(f"step[DECODE bs={batch}]", at, 5_000)
        rank.kernel("gemm", launch=at + 5, start=at + 20, dur=4_900)


def fires(run: Run) -> None:
    _decodes(run, 3)


def silent(run: Run) -> None:
    _decodes(run, 48)
