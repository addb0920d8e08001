# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel exchanges gradients in bf16 (or `ddp_compress=fp16`): half the bytes, rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import edits
from . import _ddp

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Plan

LIVE = False
IMPORT = "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks"


def why_not(agent: Agent, value: str) -> str:
    return _ddp.why_not(agent) if value in ("", "bf16", "fp16") else f"{value!r} is neither bf16 nor fp16"


def on(agent: Agent, value: str) -> str:
    _ddp.change(agent, "ddp_compress", lambda given: _hook(agent, given, value or "bf16"))
    return ""


def nothing(agent: Agent) -> str:
    return _ddp.NO_DDP


def _hook(agent: Agent, given: Given, kind: str) -> Plan:
    from ..constructors import Plan

    made: Any = given.object

    def register() -> None:
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        _try(agent.torch, made, kind)
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
