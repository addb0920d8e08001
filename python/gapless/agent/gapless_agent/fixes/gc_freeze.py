# SPDX-License-Identifier: Apache-2.0
"""The garbage collector no longer looks at what exists when training is under way, and runs every 1000 steps instead of by itself."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from .. import edits

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
FROM_STEP = 3  # model, optimiser state and batches exist
EVERY_STEPS = 1000
_since: list[int] = []  # the step at which it was switched on


def why_not(agent: Agent, value: str) -> str:
    return "" if gc.isenabled() else "the program has switched the collector off itself"


def on(agent: Agent, value: str) -> str:
    if agent.step >= FROM_STEP:
        _freeze(agent)
    else:
        agent.fixes.at_step(FROM_STEP, lambda: _freeze(agent))
    return ""


def off(agent: Agent) -> str:
    _since.clear()
    gc.enable()
    gc.unfreeze()
    return "automatic collection is on"


def in_child(agent: Agent) -> None:
    """A worker that loads data has no steps in which it could collect."""
    if _since:
        _since.clear()
        gc.enable()


def nothing(agent: Agent) -> str:
    return f"the program ended before step {FROM_STEP}"


def _freeze(agent: Agent) -> None:
    if not agent.fixes.is_on("gc_freeze") or _since:
        return
    gc.collect()
    gc.freeze()
    gc.disable()
    if _thaw not in agent.ends:
        agent.ends.append(_thaw)
    _since.append(agent.step)
    agent.fixes.at_step(agent.step + EVERY_STEPS, lambda: _collect(agent, _since[-1:]))
    what = f"{gc.get_freeze_count()} objects are left out, automatic collection is off: every {EVERY_STEPS} steps"
    # The objects of the model exist before the loop; the comment warns the user about objects that the loop creates.
    by_hand = (
        "gc.collect()",
        "gc.freeze()",
        f"gc.disable()  # where memory grows: gc.collect(1) every {EVERY_STEPS} steps",
    )
    edit = edits.lines("before", edits.loop_around(sys._getframe()), *by_hand, imports=("import gc",))
    agent.fixes.changed("gc_freeze", what, edit)


def _thaw() -> None:
    """The interpreter ends as it would have: what it looks through last is all there."""
    if _since:
        gc.unfreeze()
        gc.enable()


def _collect(agent: Agent, since: list[int]) -> None:
    if _since and _since[-1:] == since:
        gc.collect(1)
        agent.fixes.at_step(agent.step + EVERY_STEPS, lambda: _collect(agent, since))
