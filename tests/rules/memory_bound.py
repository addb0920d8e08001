# SPDX-License-Identifier: Apache-2.0
"""A step with a product and a chain of activations and norms: the chain takes 40 % or 12 % of the step."""

from __future__ import annotations

from recording import A100, Run

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float)"


def _step_with(run: Run, moving: float) -> None:
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
        rank.kernel(
            "ampere_s1688gemm_128x128_ldg8_f2f_nn", launch=step + 65, start=step + 15 + moving, dur=960 - moving
        )


def fires(run: Run) -> None:
    _step_with(run, moving=400)


def silent(run: Run) -> None:
    _step_with(run, moving=120)
