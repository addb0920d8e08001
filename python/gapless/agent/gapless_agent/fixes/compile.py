# SPDX-License-Identifier: Apache-2.0
"""torch.compile for the model: small kernels are fused, the host launches less. `compile=reduce-overhead` or `max-autotune` as modes."""

from __future__ import annotations

from ..fix import Tools
from . import _compiled
from ._models import ModelFix

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


class Compile(ModelFix):
    live = True

    def __init__(self, tools: Tools, name: str) -> None:
        super().__init__(tools, name)
        self.kept: dict[str, _compiled.Compiled] = {}  # by mode

    def why_not(self, value: str) -> str:
        if value and value not in MODES:
            return f"there is no mode {value!r}: {', '.join(MODES)}"
        if self.tools.reports.is_on("cudagraph"):
            return "cudagraph compiles the model already"
        return _compiled.why_not(self.torch)

    def on(self, value: str) -> str:
        mode = value or "default"
        if mode not in self.kept:
            copies = mode in ("reduce-overhead", "max-autotune")
            self.kept[mode] = _compiled.Compiled(self.torch, self.report, mode, copies)
        self.tools.models.add(self.kept[mode])
        return ""


FIX = Compile
