#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes alexnet_blocks.json: a step of the first two blocks of AlexNet (convolution, bias, ReLU, max-pooling), as Kineto
writes it with record_shapes=True.

The durations of the kernels are those of a forward pass on an A100 in tests/data/critical_path/alexnet of
HolisticTraceAnalysis, which has no shapes. The shapes are AlexNet's at the batch size that its grids show, 128.

usage: make_pool_sample.py > alexnet_blocks.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

BATCH = 128
CALL, LAUNCH = 12, 4  # µs of the host for an operator, and for a launch
# For each block: channels and size of what the convolution gives, and µs on the GPU of convolution, bias, ReLU and pooling.
BLOCKS = [(64, 55, (1035, 187, 145, 164)), (192, 27, (594, 136, 106, 123))]


class Recording:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.host, self.device, self.id = 1000, 1100, 1

    def slice(self, name: str, category: str, ts: int, dur: int, tid: int, **args: Any) -> None:
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if category == "kernel" else 1, "tid": tid,
                            "ts": ts, "dur": dur, "args": args})  # fmt: skip

    def operator(self, name: str, kernel: str, us: int, elements: int, **recorded: Any) -> None:
        """An operator that launches a kernel, which waits for the one before."""
        self.id += 1
        ids = {"External id": self.id}
        self.slice(name, "cpu_op", self.host, CALL, 1, **ids, **recorded)
        launch = {"correlation": self.id, **ids}
        self.slice("cudaLaunchKernel", "cuda_runtime", self.host + 4, LAUNCH, 1, **launch)
        self.device = max(self.device, self.host + CALL)
        self.slice(kernel, "kernel", self.device, us, 7, device=0, stream=7, grid=[elements // 256, 1, 1],
                   block=[256, 1, 1], **launch)  # fmt: skip
        self.events.append(
            {"ph": "s", "id": self.id, "pid": 1, "tid": 1, "ts": self.host + 4, "cat": "ac2g", "name": "ac2g"}
        )
        self.events.append({"ph": "f", "id": self.id, "pid": 0, "tid": 7, "ts": self.device, "cat": "ac2g", "name": "ac2g",
                            "bp": "e"})  # fmt: skip
        self.host += CALL + 3
        self.device += us

    def block(self, channels: int, size: int, us: tuple[int, int, int, int]) -> None:
        large, pooled = [BATCH, channels, size, size], (size - 3) // 2 + 1
        elements = BATCH * channels * size * size
        self.operator("aten::cudnn_convolution", "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", us[0], elements)
        self.operator("aten::add_", "void at::native::elementwise_kernel<128, 2, add>", us[1], elements,
                      **{"Input Dims": [large, [1, channels, 1, 1], []], "Input type": ["float", "float", "Scalar"],
                         "Concrete Inputs": ["", "", "1"]})  # fmt: skip
        self.operator("aten::clamp_min_", "void at::native::vectorized_elementwise_kernel<4, clamp_min>", us[2], elements,
                      **{"Input Dims": [large, []], "Input type": ["float", "Scalar"], "Concrete Inputs": ["", "0"]})  # fmt: skip
        self.operator("aten::max_pool2d_with_indices", "void at::native::max_pool_forward_nchw<float, float>", us[3],
                      BATCH * channels * pooled * pooled,
                      **{"Input Dims": [large, [], [], [], [], []], "Input type": ["float", *["ScalarList"] * 4, "Scalar"],
                         "Concrete Inputs": ["", "[3, 3]", "[2, 2]", "[0, 0]", "[1, 1]", "False"]})  # fmt: skip


def main() -> None:
    recording = Recording()
    for block in BLOCKS:
        recording.block(*block)
    recording.slice("ProfilerStep#1", "user_annotation", 990, recording.device - 980, 1)
    device = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    events = ",\n".join(json.dumps(event) for event in recording.events)
    sys.stdout.write(
        f'{{"schemaVersion": 1, "deviceProperties": [{json.dumps(device)}],\n"traceEvents": [\n{events}]}}\n'
    )


if __name__ == "__main__":
    main()
