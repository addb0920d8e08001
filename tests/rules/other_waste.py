# SPDX-License-Identifier: Apache-2.0
"""Copies from pinned memory take nine tenths of each step and nothing hides them; or run beside a kernel."""

from recording import Run


def _copies(run: Run, beside: bool) -> None:
    rank = run.rank()
    for step in rank.steps(4, 1000):
        rank.copy("HtoD (Pinned -> Device)", launch=step, start=step + 10, dur=900, bytes_=20_000_000)
        start = step + 10 if beside else step + 912
        rank.kernel("gemm", launch=step + 6, start=start, dur=985 if beside else 80, stream=8)


def fires(run: Run) -> None:
    _copies(run, beside=False)


def silent(run: Run) -> None:
    _copies(run, beside=True)
