# SPDX-License-Identifier: Apache-2.0
"""A batch normalisation after a convolution takes 60 µs of a millisecond; with a backward pass it is training."""

from recording import Run


def _normalises(run: Run, trains: bool) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.python("model.py(25): forward", step, 999)
        rank.operator("aten::cudnn_convolution", step, 15)
        rank.kernel("sm80_xmma_fprop_implicit_gemm_f16f16", launch=step + 5, start=step + 10, dur=900)
        rank.operator("aten::cudnn_batch_norm", step + 20, 15)
        rank.kernel(
            "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float>",
            launch=step + 25,
            start=step + 910,
            dur=60,
            grid=[64, 1, 1],
        )
        if trains:
            rank.operator("ConvolutionBackward0", step + 40, 15)
            rank.kernel("gemm", launch=step + 45, start=step + 970, dur=20)


def fires(run: Run) -> None:
    _normalises(run, trains=False)


def silent(run: Run) -> None:
    _normalises(run, trains=True)
