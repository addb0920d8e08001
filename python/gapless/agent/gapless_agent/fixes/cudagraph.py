# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: the kernels of the model are launched all at once. By torch.compile, which records them (mode reduce-overhead)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _compiled, _devices

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
_kept: list[_compiled.Compiled] = []


def why_not(agent: Agent, value: str) -> str:
    if not _devices.has_cuda(agent.torch):
        return _devices.NO_CUDA
    if agent.fixes.is_on("compile"):
        return "compile is on: compile=reduce-overhead is both"
    return _compiled.why_not(agent.torch)


def on(agent: Agent, value: str) -> str:
    if not _kept:
        _kept.append(_compiled.Compiled(agent, "cudagraph", "reduce-overhead", copies=True))
    agent.models.add(_kept[0])
    return ""


def off(agent: Agent) -> str:
    agent.models.remove("cudagraph")
    return "the model is called unchanged"


def nothing(agent: Agent) -> str:
    return agent.models.nothing()
