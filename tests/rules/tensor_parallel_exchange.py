# SPDX-License-Identifier: Apache-2.0
"""Two GPUs serve one model: 16 all-reduces of a decode iteration take 30 µs each, or one."""

from recording import H100, Run


def _decodes(run: Run, exchange: float) -> None:
    for number in range(2):
        rank, at = run.rank(number, device=H100), 0.0
        for _ in range(8):
            start = at
            for _ in range(16):
                rank.kernel("gemm", launch=at, start=at + 8, dur=90)
                rank.nccl(launch=at + 4, start=at + 98, dur=exchange, elements=1 << 17)
                at += 90 + exchange
            at += 8
            rank.annotation("step[DECODE bs=64]", start, at - start)


def fires(run: Run) -> None:
    _decodes(run, 30)


def silent(run: Run) -> None:
    _decodes(run, 1)
