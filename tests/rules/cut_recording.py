# SPDX-License-Identifier: Apache-2.0
"""Forty launches and not one kernel; or as many as launches."""

from recording import Run


def _launches(run: Run, kernels: bool) -> None:
    rank = run.rank()
    for number in range(40):
        rank.operator("aten::mm", number * 100, 30)
        if kernels:
            rank.kernel("gemm", launch=number * 100 + 5, start=number * 100 + 20, dur=60)
        else:
            rank.call("cudaLaunchKernel", number * 100 + 5, 4)


def fires(run: Run) -> None:
    _launches(run, kernels=False)


def silent(run: Run) -> None:
    _launches(run, kernels=True)
    run.rank(1).operator("aten::cudnn_is_acceptable", 5000, 30)  # which a recurrent layer asks on a CPU, too
