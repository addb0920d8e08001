# SPDX-License-Identifier: Apache-2.0
"""cuDNN measures which of its algorithms is fastest for each shape of a convolution, once, and keeps to it."""

from __future__ import annotations

from .. import edits
from ..fix import ProgramFix
from . import _devices


class CudnnBenchmark(ProgramFix):
    live = True

    def why_not(self, value: str) -> str:
        cudnn = self.torch.backends.cudnn
        if not _devices.has_cuda(self.torch):
            return _devices.NO_CUDA
        if cudnn.deterministic or self.torch.are_deterministic_algorithms_enabled():
            return "the program asks for deterministic algorithms"
        return "the program has switched it on already" if cudnn.benchmark else ""

    def on(self, value: str) -> str:
        self.torch.backends.cudnn.benchmark = True
        edit = edits.after_imports("torch.backends.cudnn.benchmark = True")
        self.report.changed("cudnn.benchmark False → True", edit)
        return ""

    def off(self) -> str:
        self.torch.backends.cudnn.benchmark = False
        return "cudnn.benchmark True → False"


FIX = CudnnBenchmark
