# SPDX-License-Identifier: Apache-2.0
"""Bias, activation and scale on the same tensor: three kernels of 40 µs each in a millisecond, or of 10 µs."""

from recording import Run

SHAPE = [512, 4096]


def _activates(run: Run, dur: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("model.py(33): forward", step, 999)
        rank.operator("aten::mm", step, 10, shapes=[[512, 1024], [1024, 4096]], types=["float", "float"])
        rank.kernel("gemm", launch=step + 2, start=step + 8, dur=980 - 3 * dur)
        for number, name in enumerate(["aten::add", "aten::gelu", "aten::mul"]):
            rank.operator(name, step + 20 + 20 * number, 15, shapes=[SHAPE, SHAPE], types=["float", "float"])
            rank.kernel(
                "void at::native::vectorized_elementwise_kernel<4, at::native::Functor>",
                launch=step + 25 + 20 * number,
                start=step + 988 + (number - 3) * dur,
                dur=dur,
                grid=[2048, 1, 1],
            )


def fires(run: Run) -> None:
    _activates(run, 40)


def silent(run: Run) -> None:
    _activates(run, 10)
