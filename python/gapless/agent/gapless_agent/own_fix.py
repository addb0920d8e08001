# SPDX-License-Identifier: Apache-2.0
"""A fix of the user's own (docs/OPTIMIZATION_GUIDE.md): a Python file with functions of the names in fix.py.

They are given an `agent`, an object with all that fixes work with: `torch`, `step`, `on`, `patches`, `models`, `constructors`, and
`fixes`, to which they report (`agent.fixes.changed(id, what, edit)`). `LIVE`, `why_not` and `on` must be there.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from .fix import Tools

MUST_HAVE = ("LIVE", "why_not", "on")


class OwnFix:
    def __init__(self, tools: Tools, name: str, path: str) -> None:
        self.module = _load(name, path)
        self.agent = _Agent(tools)
        self.live = bool(self.module.LIVE)

    def why_not(self, value: str) -> str:
        return str(self.module.why_not(self.agent, value))

    def cannot_switch(self) -> str:
        return str(self._ask("cannot_switch", ""))

    def on(self, value: str) -> str:
        what: str = self.module.on(self.agent, value)
        return what

    def off(self) -> str:
        what: str = self.module.off(self.agent)
        return what

    def nothing(self) -> str:
        return str(self._ask("nothing", "the program did nothing that it changes"))

    def in_child(self) -> None:
        self._ask("in_child", None)

    def _ask(self, name: str, otherwise: Any) -> Any:
        function = getattr(self.module, name, None)
        return otherwise if function is None else function(self.agent)


class _Agent:
    """The context, and what stands beside it, under the names that these files know."""

    def __init__(self, tools: Tools) -> None:
        self.__dict__.update(tools._asdict(), fixes=_Fixes(tools))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["context"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["context"], name, value)


class _Fixes:
    def __init__(self, tools: Tools) -> None:
        self.reports, self.at_step = tools.reports, tools.context.at_step

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["reports"], name)


def _load(name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"gapless_fix_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for missing in (entry for entry in MUST_HAVE if not hasattr(module, entry)):
        raise ImportError(f"{path} has no {missing}")
    return module
