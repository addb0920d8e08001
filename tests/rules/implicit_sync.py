# SPDX-License-Identifier: Apache-2.0
"""The program reads its loss each step; the next kernel is launched 200 µs, or 20 µs, after that."""

from recording import Run


def _reads(run: Run, pause: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("train.py(77): train_step", step, 999)
        rank.kernel("gemm", launch=step + pause, start=step + pause + 8, dur=970 - pause)
        rank.operator("aten::item", step + pause + 10, 980 - pause)
        rank.operator("aten::_local_scalar_dense", step + pause + 11, 978 - pause)
        rank.copy("DtoH (Device -> Pageable)", launch=step + pause + 12, start=step + 980, dur=2, bytes_=4)
        rank.call("cudaStreamSynchronize", step + pause + 20, 965 - pause)


def fires(run: Run) -> None:
    _reads(run, 200)


def silent(run: Run) -> None:
    _reads(run, 20)
