# SPDX-License-Identifier: Apache-2.0
"""A batch of 0.8 MB goes to the device each step, from pageable or from pinned memory."""

from recording import Run


def _loads(run: Run, kind: str, call: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("train.py(44): train_step", step, 999)
        rank.operator("aten::to", step, call + 10)
        rank.operator("aten::copy_", step + 1, call + 8)
        rank.copy(kind, launch=step + 2, start=step + 60, dur=100, bytes_=800_000, call=call)
        rank.kernel("gemm", launch=step + call + 20, start=step + 200, dur=795)


def fires(run: Run) -> None:
    _loads(run, "HtoD (Pageable -> Device)", 160)


def silent(run: Run) -> None:
    _loads(run, "HtoD (Pinned -> Device)", 6)
