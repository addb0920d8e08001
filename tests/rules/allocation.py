# SPDX-License-Identifier: Apache-2.0
"""cudaFree and cudaMalloc between the kernels of every step, or of the first one only."""

from recording import Run


def _allocates(run: Run, steps: int) -> None:
    rank = run.rank()
    for number, step in enumerate(rank.steps(4, 1000)):
        rank.kernel("gemm", launch=step, start=step + 10, dur=400)
        if number < steps:
            rank.python("train.py(31): train_step", step + 405, 120)
            rank.python("torch/cuda/memory.py(170): empty_cache", step + 408, 112)
            rank.call("cudaFree", step + 410, 70)
            rank.call("cudaMalloc", step + 481, 35)
        rank.kernel("gemm", launch=step + 530, start=step + 540, dur=455)


def fires(run: Run) -> None:
    _allocates(run, 4)


def silent(run: Run) -> None:
    _allocates(run, 1)
