# SPDX-License-Identifier: Apache-2.0
"""A product in float32 on the ordinary units of an A100, or on its tensor cores."""

from recording import A100, Run


def _multiplies(run: Run, kernel: str) -> None:
    rank = run.rank(device=A100)
    for step in rank.steps(2, 1000):
        rank.operator("aten::mm", step, 30, shapes=[[4096, 1024], [1024, 4096]], types=["float", "float"])
        rank.kernel(kernel, launch=step + 10, start=step + 20, dur=970)


def fires(run: Run) -> None:
    _multiplies(run, "ampere_sgemm_128x64_nn")


def silent(run: Run) -> None:
    _multiplies(run, "ampere_s1688gemm_128x128_ldg8_f2f_nn")
