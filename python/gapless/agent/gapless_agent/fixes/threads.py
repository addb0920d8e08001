# SPDX-License-Identifier: Apache-2.0
"""Operators on the host use N threads each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import edits
from ._devices import number

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
_before: list[int] = []


def why_not(agent: Agent, value: str) -> str:
    count = number(value)
    if count is None:
        return f"{value!r} is no number of threads"
    if agent.step and agent.torch.get_num_threads() == count:
        return f"operators use {count} {'thread' if count == 1 else 'threads'} already"
    return ""


def on(agent: Agent, value: str) -> str:
    """A program that sets the number itself, before its first step, is overruled at that step: it is what shall be tried."""
    if agent.step == 0:
        agent.fixes.at_step(1, lambda: _again(agent, int(value)))
    _set(agent, int(value))
    return ""


def off(agent: Agent) -> str:
    after = agent.torch.get_num_threads()
    agent.torch.set_num_threads(_before[0])
    return f"{after} → {_before.pop()} threads"


def nothing(agent: Agent) -> str:
    return "operators use that many threads already"


def _set(agent: Agent, count: int) -> None:
    torch = agent.torch
    before = torch.get_num_threads()
    if not _before:
        _before.append(before)
    edit = edits.after_imports(f"torch.set_num_threads({count})")
    if before != count:
        torch.set_num_threads(count)
        agent.fixes.changed("threads", f"{before} → {count} threads", edit)
    elif "OMP_NUM_THREADS" in agent.options.fix_environment:  # torch came up with as many because of the fix
        agent.fixes.changed("threads", f"OMP_NUM_THREADS={count}", edit)


def _again(agent: Agent, count: int) -> None:
    if agent.fixes.is_on("threads"):
        _set(agent, count)
