# SPDX-License-Identifier: Apache-2.0
"""A step with a product and a chain of activations and norms: the chain takes 40 % or 12 % of the step.

An optimizer written as a loop ends the step: its short kernels are not taken off the chain, its long ones do not count.
"""

from __future__ import annotations

from recording import A100, Run

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"
MUL = ADD.replace("add", "mul")
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float)"


def _step_with(run: Run, moving: float, parameter: float) -> None:
    """`moving`: of the chain, `parameter`: of each of the optimizer's four kernels, in microseconds."""
    rank = run.rank(device=A100)
    for step in rank.steps(3, 1000):
        rank.operator(
            "aten::add", step, 20, shapes=[[64, 512, 1024], [64, 512, 1024], []], types=["float", "float", "Scalar"]
        )
        rank.kernel(ADD, launch=step + 5, start=step + 15, dur=moving / 2)
        rank.operator(
            "aten::native_layer_norm",
            step + 30,
            20,
            shapes=[[64, 512, 1024], [], [1024], [1024], []],
            types=["float", "ScalarList", "float", "float", "Scalar"],
        )
        rank.kernel(NORM, launch=step + 35, start=step + 15 + moving / 2, dur=moving / 2)
        rank.operator("aten::mm", step + 60, 20, shapes=[[4096, 1024], [1024, 4096]], types=["float", "float"])
        free = step + 15 + moving
        rank.kernel("ampere_s1688gemm_128x128_ldg8_f2f_nn", launch=step + 65, start=free, dur=860 - moving)
        rank.annotation("Optimizer.step#SGD.step", step + 100, 100)
        for number in range(4):
            rank.operator("aten::mul_", step + 110 + 20 * number, 10)
            rank.kernel(MUL, launch=step + 112 + 20 * number, start=step + 875 + 25 * number, dur=parameter)


def fires(run: Run) -> None:
    _step_with(run, moving=400, parameter=8)


def silent(run: Run) -> None:
    _step_with(run, moving=120, parameter=25)
