# SPDX-License-Identifier: Apache-2.0
"""Attention as bmm, scale, softmax, bmm, or as one fused operator."""

from recording import Run

SCORES = [16, 1024, 1024]


def _attends(run: Run, kernels: list[tuple[str, str, list[list[int]], float]]) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("model.py(71): attention", step, 999)
        rank.operator("aten::addmm", step, 10)
        rank.kernel("gemm", launch=step + 2, start=step + 8, dur=500)
        start = step + 508
        for number, (operator, kernel, shapes, dur) in enumerate(kernels):
            rank.operator(
                operator, step + 20 + 20 * number, 15, shapes=shapes, types=["c10::BFloat16", "c10::BFloat16"]
            )
            rank.kernel(kernel, launch=step + 25 + 20 * number, start=start, dur=dur, grid=[512, 1, 1])
            start += dur
        rank.operator("aten::addmm", step + 120, 10)
        rank.kernel("gemm", launch=step + 122, start=start, dur=step + 995 - start)


def fires(run: Run) -> None:
    _attends(
        run,
        [
            ("aten::bmm", "cutlass_80_tensorop_bf16_gemm", [[16, 1024, 64], [16, 64, 1024]], 60),
            ("aten::mul", "void at::native::vectorized_elementwise_kernel<4, Mul>", [SCORES, []], 40),
            ("aten::_softmax", "void softmax_warp_forward<c10::BFloat16>", [SCORES, []], 60),
            ("aten::bmm", "cutlass_80_tensorop_bf16_gemm", [SCORES, [16, 1024, 64]], 60),
        ],
    )


def silent(run: Run) -> None:
    _attends(run, [("aten::_flash_attention_forward", "flash_fwd_kernel", [[1, 1024, 16, 64]], 60)])
