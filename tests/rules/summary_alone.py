# SPDX-License-Identifier: Apache-2.0
"""A printed table whose host works ten times as long as its device; or half as long, with five kernels alike."""

from recording import Run


def fires(run: Run) -> None:
    run.printed_table([("aten::mm", 90.0, 0.0, 10), ("gemm", 0.0, 8.0, 10), ("softmax", 0.0, 1.0, 10)])


def silent(run: Run) -> None:
    kernels = [(f"kernel_{i}", 0.0, 10.0, 10) for i in range(6)]
    run.printed_table([("aten::mm", 30.0, 0.0, 10), *kernels])
