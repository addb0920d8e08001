# SPDX-License-Identifier: Apache-2.0
"""Before each backward pass 20 gradients are filled with zeros, one kernel each, or they are dropped."""

from recording import Run


def _zeroes(run: Run, kernels: int) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("train.py(50): train_step", step, 999)
        rank.annotation("Optimizer.zero_grad#SGD.zero_grad", step, 150)
        for number in range(kernels):
            at = step + 2 + 7 * number
            rank.operator("aten::zero_", at, 6)
            rank.operator("aten::fill_", at + 0.5, 5)
            rank.kernel(
                "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
                launch=at + 1,
                start=at + 6,
                dur=2,
                call=3,
            )
        rank.kernel("gemm", launch=step + 155, start=step + 165, dur=830)


def fires(run: Run) -> None:
    _zeroes(run, 20)


def silent(run: Run) -> None:
    _zeroes(run, 0)
