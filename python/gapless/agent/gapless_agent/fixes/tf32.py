# SPDX-License-Identifier: Apache-2.0
"""Matrix products and convolutions of float32 run on tensor cores in TF32: the range of float32 with 10 bits of mantissa."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import edits
from . import _devices

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
_before: dict[str, Any] = {}


def why_not(agent: Agent, value: str) -> str:
    torch = agent.torch
    if not _devices.has_cuda(torch):
        return _devices.NO_CUDA
    has = _devices.capability(torch)
    if has is not None and has < (8, 0):
        return f"the GPU has no tensor cores for it (compute capability {has[0]}.{has[1]}, TF32 needs 8.0)"
    if torch.get_float32_matmul_precision() != "highest" and torch.backends.cudnn.allow_tf32:
        return "the program uses TF32 already"
    return ""


def on(agent: Agent, value: str) -> str:
    torch = agent.torch
    _before.update(matmul=torch.get_float32_matmul_precision(), cudnn=torch.backends.cudnn.allow_tf32)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    what = f"float32_matmul_precision {_before['matmul']} → high"
    agent.fixes.changed("tf32", what, edits.after_imports('torch.set_float32_matmul_precision("high")'))
    return ""


def off(agent: Agent) -> str:
    agent.torch.set_float32_matmul_precision(_before["matmul"])
    agent.torch.backends.cudnn.allow_tf32 = _before["cudnn"]
    return f"float32_matmul_precision high → {_before['matmul']}"
