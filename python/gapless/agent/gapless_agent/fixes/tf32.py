# SPDX-License-Identifier: Apache-2.0
"""Matrix products and convolutions of float32 run on tensor cores in TF32: the range of float32 with 10 bits of mantissa."""

from __future__ import annotations

from .. import edits
from ..fix import ProgramFix
from . import _devices


class Tf32(ProgramFix):
    live = True
    matmul: str  # as the program has it, and so is the next
    cudnn: bool

    def why_not(self, value: str) -> str:
        torch = self.torch
        if not _devices.has_cuda(torch):
            return _devices.NO_CUDA
        has = _devices.capability(torch)
        if has is not None and has < (8, 0):
            return f"the GPU has no tensor cores for it (compute capability {has[0]}.{has[1]}, TF32 needs 8.0)"
        if torch.get_float32_matmul_precision() != "highest" and torch.backends.cudnn.allow_tf32:
            return "the program uses TF32 already"
        return ""

    def on(self, value: str) -> str:
        torch = self.torch
        self.matmul, self.cudnn = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        what = f"float32_matmul_precision {self.matmul} → high"
        self.report.changed(what, edits.after_imports('torch.set_float32_matmul_precision("high")'))
        return ""

    def off(self) -> str:
        self.torch.set_float32_matmul_precision(self.matmul)
        self.torch.backends.cudnn.allow_tf32 = self.cudnn
        return f"float32_matmul_precision high → {self.matmul}"


FIX = Tf32
