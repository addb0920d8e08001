# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: the kernels of the model are launched all at once. By torch.compile, which records them (mode reduce-overhead)."""

from __future__ import annotations

from . import _compiled, _devices
from ._models import ModelFix


class Cudagraph(ModelFix):
    live = True
    kept: _compiled.Compiled | None = None

    def why_not(self, value: str) -> str:
        if not _devices.has_cuda(self.torch):
            return _devices.NO_CUDA
        if self.tools.reports.is_on("compile"):
            return "compile is on: compile=reduce-overhead is both"
        return _compiled.why_not(self.torch)

    def on(self, value: str) -> str:
        if self.kept is None:
            self.kept = _compiled.Compiled(self.torch, self.report, "reduce-overhead", copies=True)
        self.tools.models.add(self.kept)
        return ""


FIX = Cudagraph
