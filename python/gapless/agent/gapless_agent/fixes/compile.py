# SPDX-License-Identifier: Apache-2.0
"""torch.compile for the model: small kernels are fused, the host launches less. `compile=reduce-overhead` or `max-autotune` as modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _compiled

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
_kept: dict[str, _compiled.Compiled] = {}


def why_not(agent: Agent, value: str) -> str:
    if value and value not in MODES:
        return f"there is no mode {value!r}: {', '.join(MODES)}"
    if agent.fixes.is_on("cudagraph"):
        return "cudagraph compiles the model already"
    return _compiled.why_not(agent.torch)


def on(agent: Agent, value: str) -> str:
    mode = value or "default"
    if mode not in _kept:
        _kept[mode] = _compiled.Compiled(agent, "compile", mode, copies=mode in ("reduce-overhead", "max-autotune"))
    agent.models.add(_kept[mode])
    return ""


def off(agent: Agent) -> str:
    agent.models.remove("compile")
    return "the model is called unchanged"


def nothing(agent: Agent) -> str:
    return agent.models.nothing()
