# SPDX-License-Identifier: Apache-2.0
"""SGD updates 40 parameters one by one, or all of them with one kernel."""

from recording import Run


def _updates(run: Run, operators: int, name: str, kernel: str) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("train.py(52): train_step", step, 999)
        rank.kernel("gemm", launch=step, start=step + 8, dur=690)
        rank.annotation("Optimizer.step#SGD.step", step + 690, 300)
        for number in range(operators):
            at = step + 692 + 7 * number
            rank.operator(name, at, 6)
            rank.kernel(kernel, launch=at + 1, start=max(at + 6, step + 700), dur=280 / operators / 3, call=3)


def fires(run: Run) -> None:
    _updates(
        run, 40, "aten::add_", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"
    )


def silent(run: Run) -> None:
    _updates(run, 1, "aten::_fused_sgd_", "void at::native::multi_tensor_apply_kernel<at::native::FusedSgdMathFunctor>")
