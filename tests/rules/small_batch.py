# SPDX-License-Identifier: Apache-2.0
"""A batch of 4 images whose kernels wait for launches; a tenth of the memory is taken, or nine tenths."""

from __future__ import annotations

from recording import A100, Run

GIB = 1 << 30


def _small_steps(run: Run, reserved: int) -> None:
    rank = run.rank(device=A100)
    for step in rank.steps(3, 1000):
        rank.memory(step + 1, 1 << 20, allocated=reserved // 2, reserved=reserved)
        rank.operator(
            "aten::conv2d",
            step,
            45,
            shapes=[[4, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []],
            types=["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"],
        )
        for launch in range(20):
            at = step + launch * 50
            if launch > 0:
                rank.operator("aten::relu", at, 45, shapes=[[4, 64, 112, 112]], types=["float"])
            rank.kernel("void my_kernel<float>(float*)", launch=at + 35, start=at + 40, dur=10)


def fires(run: Run) -> None:
    _small_steps(run, reserved=8 * GIB)


def silent(run: Run) -> None:
    _small_steps(run, reserved=70 * GIB)
