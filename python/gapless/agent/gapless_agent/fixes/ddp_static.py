# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel takes the first iteration as the pattern of all: `static_graph`, instead of looking for unused parameters.

After the first iterations it says whether that held; where it did not, training ends with its error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _ddp

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Plan

LIVE = False


def why_not(agent: Agent, value: str) -> str:
    return _ddp.why_not(agent)


def on(agent: Agent, value: str) -> str:
    _ddp.change(agent, "ddp_static", lambda given: _static(agent, given))
    return ""


def nothing(agent: Agent) -> str:
    return _ddp.NO_DDP


def _static(agent: Agent, given: Given) -> Plan | None:
    plan = _ddp.flag(agent, "ddp_static", given, "static_graph", True)
    if plan is None or not given.get("find_unused_parameters"):
        return plan
    given.set(find_unused_parameters=False)
    return plan._replace(
        what=plan.what + ", find_unused_parameters=False",
        values={**(plan.values or {}), "find_unused_parameters": "False"},
    )
