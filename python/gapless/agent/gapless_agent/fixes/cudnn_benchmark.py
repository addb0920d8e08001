# SPDX-License-Identifier: Apache-2.0
"""cuDNN measures which of its algorithms is fastest for each shape of a convolution, once, and keeps to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import edits
from . import _devices

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True


def why_not(agent: Agent, value: str) -> str:
    cudnn = agent.torch.backends.cudnn
    if not _devices.has_cuda(agent.torch):
        return _devices.NO_CUDA
    if cudnn.deterministic or agent.torch.are_deterministic_algorithms_enabled():
        return "the program asks for deterministic algorithms"
    return "the program has switched it on already" if cudnn.benchmark else ""


def on(agent: Agent, value: str) -> str:
    agent.torch.backends.cudnn.benchmark = True
    agent.fixes.changed(
        "cudnn_benchmark", "cudnn.benchmark False → True", edits.after_imports("torch.backends.cudnn.benchmark = True")
    )
    return ""


def off(agent: Agent) -> str:
    agent.torch.backends.cudnn.benchmark = False
    return "cudnn.benchmark True → False"
