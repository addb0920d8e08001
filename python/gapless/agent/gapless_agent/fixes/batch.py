# SPDX-License-Identifier: Apache-2.0
"""Batches are K times as large: another training, with fewer and larger steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import _loader

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Plan

LIVE = False


def factor_of(value: str) -> float | None:
    try:
        factor = float(value)
    except ValueError:
        return None
    return factor if math.isfinite(factor) and 0 < factor <= 1 << 16 else None


def why_not(agent: Agent, value: str) -> str:
    return "" if factor_of(value) is not None else f"{value!r} is no factor: batch=2 doubles the batches"


def on(agent: Agent, value: str) -> str:
    _loader.change(agent, "batch", lambda given: larger(agent, given, factor_of(value) or 1, "batch"))
    return ""


def nothing(agent: Agent) -> str:
    return _loader.NO_LOADER


def larger(agent: Agent, given: Given, factor: float, fix: str) -> Plan | None:
    """Plans a batch `factor` times as large, for the fix of that name; none where the loader has to stay as it is."""
    from ..constructors import Plan

    before = given.get("batch_size")
    if not isinstance(before, int) or before < 1 or given.get("batch_sampler") is not None:
        agent.fixes.pass_over(fix, "a DataLoader takes its batches from a sampler of the program")
        return None
    after = max(1, int(before * factor))
    if after == before:
        agent.fixes.pass_over(fix, f"a DataLoader has batch_size={before} already")
        return None
    given.set(batch_size=after)
    return Plan(f"batch_size {before} → {after}", {"batch_size": str(after)})
