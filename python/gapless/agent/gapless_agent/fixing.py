# SPDX-License-Identifier: Apache-2.0
"""Switches fixes on and off: those that the launcher asks for from the start, and those that its commands name. Fixes are files of `fixes/`
(see fix.py for what each is), and files of the user's own. What a fix does, it reports through reports.py.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Callable

from . import layout
from .context import Context
from .reports import Reports

if TYPE_CHECKING:
    from .fix import Fix, Tools  # most processes do without


class Fixes:
    def __init__(self, context: Context, reports: Reports, tools: Callable[[], Tools]) -> None:
        """`tools` makes what fixes work with."""
        self.context, self.reports, self.make_tools = context, reports, tools
        self.guard = reports.guard
        self.tools: Tools | None = None
        self.known: dict[str, Fix] = {}  # those of the agent; each keeps its state between off and on
        self.switched: dict[str, Fix] = {}  # by name: what was switched on last
        self.turn = SimpleNamespace(at_step=self.begins, guard=self.guard)  # as every part of install.py has it

    # Switching.

    def install(self) -> None:
        self.guard.at_end(self.at_end)
        if not self.context.options.fixes:
            return
        self.reports.optimizers.when_made.append(self.reports.write)
        for item in self.context.options.fixes:
            name, _, value = item.partition("=")
            self.reports.asked[name] = value
            self.switch_on(item)

    def switch_on(self, item: str) -> tuple[int, str]:
        """`id` or `id=value`; answers the acknowledgement's value and a text."""
        name, _, value = item.partition("=")
        live = bool(self.context.step)
        try:
            fix = self._find(name)
            value_of, reason = self._why_not(fix, name, value, live)
            if fix is None or reason:
                if fix is not None or not live:
                    self.reports.say(layout.FIX_REFUSED, name, value, reason)
                return value_of, reason
            self.switched[name] = fix
            self.reports.switched_on(name, value)
            what = fix.on(value)
        except Exception as error:
            self.reports.refuse(name, f"{type(error).__name__}: {error}", value)
            return layout.ACK_FAILED, str(error)
        if what:
            self.reports.changed(name, what)
        return layout.ACK_DONE, what

    def _why_not(self, fix: Fix | None, name: str, value: str, live: bool) -> tuple[int, str]:
        """Returns how the command is acknowledged, and why the fix cannot be switched on; "" when it can."""
        if fix is None:
            return layout.ACK_UNKNOWN, f"there is no fix {name!r}"
        if self.reports.is_on(name):
            return layout.ACK_NOT_APPLICABLE, "it is on already"
        if live and not fix.live:
            return layout.ACK_NOT_APPLICABLE, "it can only be on from the start"
        reason = fix.why_not(value)
        if live and not reason:
            return layout.ACK_FAILED, fix.cannot_switch()
        return layout.ACK_NOT_APPLICABLE, reason

    def switch_off(self, item: str) -> tuple[int, str]:
        name = item.partition("=")[0]
        if not self.reports.is_on(name):
            return layout.ACK_NOT_APPLICABLE, "it is not on"
        fix, value = self.switched[name], self.reports.active[name]
        if not fix.live:
            return layout.ACK_NOT_APPLICABLE, "it cannot be switched off while the program runs"
        reason = fix.cannot_switch()
        if reason:
            return layout.ACK_FAILED, reason
        del self.reports.active[name]
        try:
            what = fix.off()
        except Exception as error:
            self.reports.say(layout.FIX_REFUSED, name, value, f"off: {type(error).__name__}: {error}")
            return layout.ACK_FAILED, str(error)
        self.reports.say(layout.FIX_OFF, name, value, what)
        return layout.ACK_DONE, what

    def _find(self, name: str) -> Fix | None:
        """One of the user's own is loaded anew each time."""
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
            return None
        for path in self.context.options.own_fixes:
            if os.path.basename(path) == name + ".py":
                from .own_fix import OwnFix  # most processes do without

                return OwnFix(self._tools(), name, path)
        full = f"{__package__}.fixes.{name}"
        if name not in self.known and importlib.util.find_spec(full) is not None:
            self.known[name] = importlib.import_module(full).FIX(self._tools(), name)
        return self.known.get(name)

    def _tools(self) -> Tools:
        if self.tools is None:
            self.tools = self.make_tools()
        return self.tools

    # Between two steps, and at the end.

    @property
    def busy(self) -> bool:
        return bool(self.reports.queue or self.context.due)

    def begins(self, step: int) -> None:
        self.context.begins(step)
        self.reports.write()

    def at_end(self) -> None:
        reports = self.reports
        if not reports.works():
            reports.queue.clear()
            return
        reports.write()
        for name, value in reports.asked.items():
            if reports.is_on(name) and name not in reports.took_effect:
                reports.say(layout.FIX_REFUSED, name, value, self._nothing(name))

    def _nothing(self, name: str) -> str:
        reasons = "; ".join(self.reports.reasons.get(name, []))
        if reasons:
            return reasons
        try:
            return self.switched[name].nothing()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def reset(self) -> None:
        """In the child after a fork."""
        self.reports.reset()
        for name in self.reports.active:
            self.switched[name].in_child()
