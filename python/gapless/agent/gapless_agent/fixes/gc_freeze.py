# SPDX-License-Identifier: Apache-2.0
"""The garbage collector no longer looks at what exists now, and no longer runs by itself."""

from __future__ import annotations

import gc

from ..agent import Agent


def why_not(agent: Agent) -> str:
    return "" if gc.isenabled() else "the program has switched the collector off itself"


def on(agent: Agent) -> str:
    gc.freeze()
    gc.disable()
    return f"{gc.get_freeze_count()} objects are left out, automatic collection is off"


def off(agent: Agent) -> str:
    gc.enable()
    gc.unfreeze()
    return "automatic collection is on"
