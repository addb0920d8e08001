# SPDX-License-Identifier: Apache-2.0
"""Each worker of a DataLoader fetches N batches ahead (4) instead of 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _loader
from ._devices import number

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Plan

LIVE = True
USUAL = 4


def why_not(agent: Agent, value: str) -> str:
    if value and number(value) is None:
        return f"{value!r} is no number of batches"
    count = number(value) or USUAL
    same = f"no workers that could fetch ahead, or prefetch_factor={count} already"
    return _loader.why_same(agent, lambda own: not own.workers or own.prefetch == count, same)


def cannot_switch(agent: Agent) -> str:
    was_asked = agent.loader_switch is not None and agent.loader_switch.prefetch is None
    return _loader.cannot_switch(agent, "prefetch_factor", was_asked)


def on(agent: Agent, value: str) -> str:
    count = number(value) or USUAL
    if agent.step:
        return _loader.switch(agent, prefetch=count)
    _loader.change(agent, "prefetch_factor", lambda given: _ahead(agent, given, count))
    return ""


def off(agent: Agent) -> str:
    return _loader.switch(agent, prefetch=None)


def nothing(agent: Agent) -> str:
    return _loader.NO_LOADER


def _ahead(agent: Agent, given: Given, count: int) -> Plan | None:
    from ..constructors import Plan

    before = given.get("prefetch_factor") or 2
    if not given.get("num_workers"):
        agent.fixes.pass_over("prefetch_factor", "a DataLoader has no workers that could fetch ahead")
        return None
    if before == count:
        agent.fixes.pass_over("prefetch_factor", f"a DataLoader has prefetch_factor={count} already")
        return None
    given.set(prefetch_factor=count)
    return Plan(f"prefetch_factor {before} → {count}", {"prefetch_factor": str(count)})
