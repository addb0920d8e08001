# SPDX-License-Identifier: Apache-2.0
"""A kernel that takes 60 % of each step keeps 22 % of the warps resident and 20 of 32 threads active; or uses the GPU well."""

from recording import Run


def _timeline(run: Run) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.kernel(
            "void ns::scan<4>(float*)", launch=step + 10, start=step + 20, dur=600, grid=[1024, 1, 1], block=[256, 1, 1]
        )
        rank.kernel("gemm", launch=step + 640, start=step + 650, dur=340)


def fires(run: Run) -> None:
    _timeline(run)
    run.ncu().launch("scan", sm=75.5, dram=40.0, occupancy=22.0, threads=20.0)


def silent(run: Run) -> None:
    _timeline(run)
    run.ncu().launch("scan", sm=75.5, dram=40.0, occupancy=55.0, threads=31.0)
