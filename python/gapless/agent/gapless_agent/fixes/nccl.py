# SPDX-License-Identifier: Apache-2.0
"""Settings of NCCL that it reads when a group of processes is made; what the user has set stays as it is."""

from __future__ import annotations

import os
from typing import Any

from .. import edits
from ..fix import ProgramFix

SETTINGS = {
    "ring": ("NCCL_ALGO", "Ring"),
    "tree": ("NCCL_ALGO", "Tree"),
    "simple": ("NCCL_PROTO", "Simple"),
    "ll128": ("NCCL_PROTO", "LL128"),
    "few_blocks": ("NCCL_MAX_CTAS", "4"),
    "many_blocks": ("NCCL_MIN_CTAS", "32"),
}


class Nccl(ProgramFix):
    def why_not(self, value: str) -> str:
        if value not in SETTINGS:
            return f"{value!r} is none of {', '.join(SETTINGS)}"
        distributed: Any = self.torch.distributed
        if not distributed.is_available() or not distributed.is_nccl_available():
            return "this torch has no NCCL"
        name = SETTINGS[value][0]
        return f"{name} is set by the user: {os.environ[name]}" if name in os.environ else ""

    def on(self, value: str) -> str:
        name, text = SETTINGS[value]
        os.environ[name] = text
        self.tools.optimizers.when_made.append(self._made)
        return ""

    def _made(self) -> None:
        """An optimiser is made, behind the group of processes that exchanges its gradients."""
        distributed = self.torch.distributed
        if distributed.is_initialized() and "nccl" in distributed.get_backend():
            name, text = SETTINGS[self.report.value()]
            self.report.changed(f"{name}={text}", edits.environment(**{name: text}))

    def nothing(self) -> str:
        return "no group of processes exchanges by NCCL"


FIX = Nccl
