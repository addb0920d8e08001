# SPDX-License-Identifier: Apache-2.0
"""DDP's forward pass packs buffers for 200 µs of each millisecond, with the device idle; or the device is still busy."""

from recording import Run


def _forward(run: Run, busy: float) -> None:
    rank = run.rank(0)
    for step in rank.steps(3, 1000):
        rank.kernel("adam", launch=step, start=step + 6, dur=busy)
        rank.annotation("DistributedDataParallel.forward", step + 20, 600)
        rank.operator("aten::flatten_dense_tensors", step + 30, 80)
        rank.operator("aten::unflatten_dense_tensors", step + 120, 120)
        rank.kernel("gemm", launch=step + 250, start=step + 260, dur=730)


def fires(run: Run) -> None:
    _forward(run, 10)


def silent(run: Run) -> None:
    _forward(run, 220)
