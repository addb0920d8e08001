# SPDX-License-Identifier: Apache-2.0
"""Long kernels with blocks for a quarter of the multiprocessors; and two of them at once on two streams, which fill half
of the device each."""

from __future__ import annotations

from typing import Any

from recording import A100, Run


def _kernels(run: Run, blocks: float, streams: int) -> None:
    rank = run.rank(device=A100)
    recorded: dict[str, Any] = {"blocks per SM": blocks, "est. achieved occupancy %": 50}
    for step in rank.steps(3, 1000):
        for stream in range(streams):
            rank.operator("aten::_cudnn_rnn", step + 20 * stream, 15)
            rank.kernel(
                "void my_recurrent_kernel<float>(float*)",
                launch=step + 20 * stream + 5,
                start=step + 50,
                dur=900,
                stream=7 + stream,
                grid=[int(108 * blocks), 1, 1],
                block=[256, 1, 1],
                **recorded,
            )


def fires(run: Run) -> None:
    _kernels(run, blocks=0.25, streams=1)


def silent(run: Run) -> None:
    _kernels(run, blocks=0.5, streams=2)
