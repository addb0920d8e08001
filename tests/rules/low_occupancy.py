# SPDX-License-Identifier: Apache-2.0
"""A kernel that fills the device with blocks and keeps 12 % of the warps running; and a product that does the same on
tensor cores, which is how tuned products run."""

from __future__ import annotations

from typing import Any

from recording import A100, Run


def _runs(run: Run, kernel: str) -> None:
    rank = run.rank(device=A100)
    recorded: dict[str, Any] = {"blocks per SM": 4.0, "est. achieved occupancy %": 12}
    for step in rank.steps(3, 1000):
        rank.operator("aten::native_group_norm", step, 30)
        rank.kernel(
            kernel,
            launch=step + 10,
            start=step + 20,
            dur=400,
            grid=[432, 1, 1],
            block=[64, 1, 1],
            **recorded,
        )
        rank.operator("aten::mul", step + 40, 20)
        rank.kernel("void filler<float>(float*)", launch=step + 45, start=step + 420, dur=550)


def fires(run: Run) -> None:
    _runs(run, "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>(long, float, float const*)")


def silent(run: Run) -> None:
    _runs(run, "ampere_s1688gemm_128x128_ldg8_f2f_nn")
