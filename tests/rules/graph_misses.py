# SPDX-License-Identifier: Apache-2.0
"""An engine decodes 12 times; with 40 requests no graph was captured, or one was for them, too."""

from recording import H100, Run


def _decodes(run: Run, largest: int) -> None:
    rank, at = run.rank(device=H100), 0.0
    for number in range(12):
        batch = 40 if number % 3 == 0 else 16
        start = at
        if batch <= largest:
            rank.graph(at + 5, [at + 20 + 31 * kernel for kernel in range(40)], 30)
            at += 20 + 31 * 40
        else:
            for kernel in range(40):
                rank.operator(f"aten::op{kernel % 9}", at, 55)
                rank.kernel("gemm", launch=at + 5, start=at + 12, dur=30)
                at += 60
        rank.annotation(f"execute_context_0(0)_generation_{batch}({batch})", start, at - start)


def fires(run: Run) -> None:
    _decodes(run, 32)


def silent(run: Run) -> None:
    _decodes(run, 64)
