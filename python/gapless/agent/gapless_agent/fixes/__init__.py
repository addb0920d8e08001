# SPDX-License-Identifier: Apache-2.0
"""Changes to a running program that can be switched on and off between two steps.

A fix is one module of this package, and its name is the fix's id. It has three functions:

    why_not(agent) -> str    why it cannot be applied here; "" when it can
    on(agent) -> str         applies it, says what it changed
    off(agent) -> str        takes it back, says what it changed
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from .. import layout
from ..agent import Agent

_active: dict[str, Any] = {}


def _find(name: str) -> Any | None:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        return None
    try:
        return importlib.import_module("." + name, __name__)
    except ImportError:
        return None


def _say(agent: Agent, value: int, text: str) -> None:
    agent.emit(layout.KIND_FIX, value=value, a=agent.text(text), b=agent.step)


def switch_on(agent: Agent, name: str) -> tuple[int, str]:
    fix = _find(name)
    if fix is None:
        return layout.ACK_UNKNOWN, f"there is no fix {name!r}"
    reason = "it is on already" if name in _active else fix.why_not(agent)
    if reason:
        _say(agent, layout.FIX_REFUSED, f"{name}: {reason}")
        return layout.ACK_NOT_APPLICABLE, reason
    changed = fix.on(agent)
    _active[name] = fix
    _say(agent, layout.FIX_ON, f"{name}: {changed}")
    return layout.ACK_DONE, changed


def switch_off(agent: Agent, name: str) -> tuple[int, str]:
    fix = _active.pop(name, None)
    if fix is None:
        return layout.ACK_NOT_APPLICABLE, "it is not on"
    changed = fix.off(agent)
    _say(agent, layout.FIX_OFF, f"{name}: {changed}")
    return layout.ACK_DONE, changed
