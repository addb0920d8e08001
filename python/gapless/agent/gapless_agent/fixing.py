# SPDX-License-Identifier: Apache-2.0
"""The fixes of this process: which are on, what each changed, and telling so.

A process says nothing before it is clear that it trains or infers: a launcher imports torch too, and so does a worker that loads
data. What there was to say waits until then, and is dropped with a process that never does.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable

from . import layout

if TYPE_CHECKING:
    from .install import Running


class Fixes:
    def __init__(self, running: Running) -> None:
        self.running, self.agent = running, running.agent
        self.guard = self.agent.guard("the fixes", "Fixes that are on stay on; further changes are not reported.")
        self.active: dict[str, tuple[Any, str]] = {}  # module and value, in the order of switching on
        self.asked: dict[str, str] = {}  # from the start: fixes that never take effect are reported at the end
        self.took_effect: set[str] = set()
        self.reported: set[str] = set()
        self.reasons: dict[str, list[str]] = {}  # why something was left as it is
        self.queue: list[tuple[int, int, int, str]] = []
        self.due: list[tuple[int, Callable[[], None]]] = []
        self.turn = SimpleNamespace(at_step=self.begins, guard=self.guard)  # as every part of install.py has it

    # Switching.

    def install(self) -> None:
        self.guard.at_end(self.at_end)
        if not self.agent.options.fixes:
            return
        self.running.optimizers.when_made.append(self.write)
        for item in self.agent.options.fixes:
            name, _, value = item.partition("=")
            self.asked[name] = value
            self.switch_on(item)

    def switch_on(self, item: str) -> tuple[int, str]:
        """`id` or `id=value`; answers the acknowledgement's value and a text."""
        name, _, value = item.partition("=")
        live = bool(self.agent.step)
        try:
            fix = self._find(name)
            if fix is None:
                reason, value_of = f"there is no fix {name!r}", layout.ACK_UNKNOWN
            elif name in self.active:
                reason, value_of = "it is on already", layout.ACK_NOT_APPLICABLE
            elif live and not fix.LIVE:
                reason, value_of = "it can only be on from the start", layout.ACK_NOT_APPLICABLE
            else:
                reason, value_of = fix.why_not(self.agent, value), layout.ACK_NOT_APPLICABLE
                if live and not reason:
                    reason, value_of = self._cannot_switch(fix), layout.ACK_FAILED
            if fix is None or reason:
                if fix is not None or not live:
                    self._say(layout.FIX_REFUSED, name, value, reason)
                return value_of, reason
            self.active[name] = (fix, value)
            self.reported = {key for key in self.reported if not key.startswith(name + " ")}
            what = fix.on(self.agent, value)
        except Exception as error:
            self.refuse(name, f"{type(error).__name__}: {error}", value)
            return layout.ACK_FAILED, str(error)
        if what:
            self.changed(name, what)
        return layout.ACK_DONE, what

    def switch_off(self, item: str) -> tuple[int, str]:
        name = item.partition("=")[0]
        if name not in self.active:
            return layout.ACK_NOT_APPLICABLE, "it is not on"
        fix, value = self.active[name]
        if not fix.LIVE:
            return layout.ACK_NOT_APPLICABLE, "it cannot be switched off while the program runs"
        reason = self._cannot_switch(fix)
        if reason:
            return layout.ACK_FAILED, reason
        del self.active[name]
        try:
            what = fix.off(self.agent)
        except Exception as error:
            self._say(layout.FIX_REFUSED, name, value, f"off: {type(error).__name__}: {error}")
            return layout.ACK_FAILED, str(error)
        self._say(layout.FIX_OFF, name, value, what)
        return layout.ACK_DONE, what

    def _cannot_switch(self, fix: Any) -> str:
        """Returns why the fix, though LIVE, can only be on from the start in this program; "" when it can be switched."""
        cannot = getattr(fix, "cannot_switch", None)
        return "" if cannot is None else str(cannot(self.agent))

    def _find(self, name: str) -> Any | None:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
            return None
        for path in self.agent.options.own_fixes:
            if os.path.basename(path) == name + ".py":
                return _load(name, path)
        full = f"{__package__}.fixes.{name}"
        return importlib.import_module(full) if importlib.util.find_spec(full) is not None else None

    # Methods that fixes call.

    def is_on(self, name: str) -> bool:
        return name in self.active

    def value_of(self, name: str) -> str:
        return self.active[name][1] if name in self.active else self.asked.get(name, "")

    def changed(self, name: str, what: str, edit: dict[str, Any] | None = None) -> None:
        """The fix took effect. The same change at the same place is reported once."""
        self.took_effect.add(name)
        key = f"{name} {what} {json.dumps(edit, sort_keys=True)}"
        if key not in self.reported:
            self.reported.add(key)
            self._say(layout.FIX_ON, name, self.value_of(name), what, edit)

    def pass_over(self, name: str, reason: str) -> None:
        """One object stays as it is; others may still take the fix."""
        reasons = self.reasons.setdefault(name, [])
        if reason not in reasons:
            reasons.append(reason)

    def refuse(self, name: str, reason: str, value: str | None = None) -> None:
        """The fix cannot be applied after all, and is off from here on."""
        value = self.value_of(name) if value is None else value
        self.active.pop(name, None)
        self._say(layout.FIX_REFUSED, name, value, reason)

    def failed(self, name: str, error: BaseException) -> None:
        """An error that comes from the fix, which was rolled back."""
        text = f"{type(error).__name__}: {error}".strip()[:2000]
        if name in self.took_effect:
            self.pass_over(name, text)
        elif name in self.active:
            self.refuse(name, text)

    def at_step(self, step: int, act: Callable[[], None]) -> None:
        """Calls `act` when that step begins, or the next one when it has begun."""
        self.due.append((step, act))
        self.agent.attention = True

    # Telling.

    def _say(self, value: int, name: str, setting: str, what: str, edit: dict[str, Any] | None = None) -> None:
        about: dict[str, Any] = {"fix": name, "value": setting, "what": what}
        if edit is not None:
            about["edit"] = edit
        text = json.dumps(about, default=str, separators=(",", ":"))
        if len(text.encode("utf-8", "replace")) > layout.TEXT_MAX_BYTES:
            about.pop("edit", None)
            about["what"] = what[:2000]
            text = json.dumps(about, default=str, separators=(",", ":"))
        self.queue.append((value, time.time_ns(), self.agent.step, text))
        self.write()

    def _works(self) -> bool:
        agent = self.agent
        if agent.role() != layout.ROLE_TRAINS:
            return False
        return agent.step > 0 or agent.ring is not None or self.running.optimizers.made_any

    def write(self) -> None:
        agent = self.agent
        if not self.queue:
            return
        if not self._works():
            agent.attention = True
            return
        queue, self.queue = self.queue, []
        for value, when, step, text in queue:
            agent.emit(layout.KIND_FIX, value=value, ts_ns=when, a=agent.text(text), b=step)

    @property
    def busy(self) -> bool:
        return bool(self.queue or self.due)

    def begins(self, step: int) -> None:
        due, self.due = self.due, []
        for when, act in due:
            if when > step:
                self.due.append((when, act))
                continue
            act()
        self.write()

    def at_end(self) -> None:
        if not self._works():
            self.queue.clear()
            return
        self.write()
        for name, value in self.asked.items():
            if name in self.active and name not in self.took_effect:
                self._say(layout.FIX_REFUSED, name, value, self._nothing(name))

    def _nothing(self, name: str) -> str:
        reasons = "; ".join(self.reasons.get(name, []))
        if reasons:
            return reasons
        nothing = getattr(self.active[name][0], "nothing", None)
        try:
            return str(nothing(self.agent)) if nothing is not None else "the program did nothing that it changes"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def reset(self) -> None:
        """Resets the state in a forked child: it reports a change only if it trains itself."""
        self.asked = {name: value for name, value in self.asked.items() if name not in self.took_effect}
        self.reported.clear()
        self.reasons.clear()
        for fix, _ in self.active.values():
            in_child = getattr(fix, "in_child", None)
            if in_child is not None:
                in_child(self.agent)


def _load(name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"gapless_fix_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for missing in (entry for entry in ("LIVE", "why_not", "on") if not hasattr(module, entry)):
        raise ImportError(f"{path} has no {missing}")
    return module
