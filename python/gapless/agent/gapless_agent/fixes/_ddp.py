# SPDX-License-Identifier: Apache-2.0
"""Functions that the fixes of DistributedDataParallel share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Plan, Transform

NO_DDP = "the program uses no DistributedDataParallel"


def why_not(agent: Agent) -> str:
    return "" if agent.torch.distributed.is_available() else "this torch has no torch.distributed"


def change(agent: Agent, fix: str, transform: Transform) -> None:
    agent.constructors.change(agent.torch.nn.parallel.DistributedDataParallel, fix, transform)


def flag(agent: Agent, fix: str, given: Given, name: str, value: Any) -> Plan | None:
    """One argument, where the program has not given it."""
    from ..constructors import Plan

    if not given.knows(name):
        agent.fixes.pass_over(fix, f"DistributedDataParallel of torch {agent.torch.__version__} has no {name}=")
        return None
    before = given.get(name)
    if before == value:
        agent.fixes.pass_over(fix, f"DistributedDataParallel has {name}={value} already")
        return None
    given.set(**{name: value})
    shown = f"{name} {before} → {value}" if before is not None and not isinstance(before, bool) else f"{name}={value}"
    return Plan(shown, {name: str(value)})
