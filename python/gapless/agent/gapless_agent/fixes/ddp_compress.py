# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel exchanges gradients in bf16 (or `ddp_compress=fp16`): half the bytes, rounded."""

from __future__ import annotations

from typing import Any

from .. import edits
from ..constructors import Given, Plan
from ._ddp import DdpFix

IMPORT = "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks"


class DdpCompress(DdpFix):
    def why_not(self, value: str) -> str:
        return super().why_not(value) if value in ("", "bf16", "fp16") else f"{value!r} is neither bf16 nor fp16"

    def on(self, value: str) -> str:
        self.change(lambda given: self._hook(given, value or "bf16"))
        return ""

    def _hook(self, given: Given, kind: str) -> Plan:
        made: Any = given.object

        def register() -> None:
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            _try(self.torch, made, kind)
            made.register_comm_hook(None, getattr(default_hooks, f"{kind}_compress_hook"))

        frame = edits.caller(made)
        place = edits.place_of(frame)
        name = edits.assigned(place) if place is not None else ""
        edit = None
        if name:
            line = f"{name}.register_comm_hook(None, default_hooks.{kind}_compress_hook)"
            edit = edits.lines("after", place, line, imports=(IMPORT,))
        return Plan(f"gradients are exchanged in {kind}", None, register, edit)


def _try(torch: Any, made: Any, kind: str) -> None:
    """All ranks are here: whether their way of exchanging can do it shows now, not in the first backward pass."""
    device = next(made.parameters()).device
    ranks = torch.ones(1, dtype=torch.bfloat16 if kind == "bf16" else torch.float16, device=device)
    torch.distributed.all_reduce(ranks, group=made.process_group)
    if float(ranks) != torch.distributed.get_world_size(made.process_group):
        raise ValueError(f"the ranks do not add {kind}")


FIX = DdpCompress
