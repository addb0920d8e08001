# SPDX-License-Identifier: Apache-2.0
"""cuDNN turns the input and the output of a convolution into another layout, in 80 µs or in 20 µs of a millisecond."""

from recording import Run


def _convolves(run: Run, dur: float) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("model.py(25): forward", step, 999)
        rank.operator(
            "aten::cudnn_convolution",
            step,
            40,
            shapes=[[64, 64, 56, 56], [64, 64, 3, 3]],
            types=["c10::Half", "c10::Half"],
        )
        rank.kernel(
            "void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false>",
            launch=step + 5,
            start=step + 10,
            dur=dur / 2,
        )
        rank.kernel("sm80_xmma_fprop_implicit_gemm_f16f16", launch=step + 15, start=step + 10 + dur / 2, dur=980 - dur)
        rank.kernel(
            "void cudnn::ops::nhwcToNchwKernel<__half, __half, float, true>",
            launch=step + 25,
            start=step + 990 - dur / 2,
            dur=dur / 2,
        )


def fires(run: Run) -> None:
    _convolves(run, 80)


def silent(run: Run) -> None:
    _convolves(run, 20)
