# SPDX-License-Identifier: Apache-2.0
"""The fixes of this process: which are on, what each changed, and telling so.

A process says nothing before it is clear that it trains or infers: a launcher imports torch too, and so does a worker that loads
data. What there was to say waits until then, and is dropped with a process that never does.
"""

from __future__ import annotations

import json
import time
from typing import Any

from . import layout
from .context import Context
from .optim import Optimizers


class Reports:
    def __init__(self, context: Context, optimizers: Optimizers) -> None:
        self.context, self.optimizers = context, optimizers
        self.guard = context.guard("the fixes", "Fixes that are on stay on; further changes are not reported.")
        self.active: dict[str, str] = {}  # their values, in the order of switching on
        self.asked: dict[str, str] = {}  # from the start: fixes that never take effect are reported at the end
        self.took_effect: set[str] = set()
        self.reported: set[str] = set()
        self.reasons: dict[str, list[str]] = {}  # why something was left as it is
        self.queue: list[tuple[int, int, int, str]] = []

    def switched_on(self, name: str, value: str) -> None:
        self.active[name] = value
        self.reported = {key for key in self.reported if not key.startswith(name + " ")}

    def is_on(self, name: str) -> bool:
        return name in self.active

    def value_of(self, name: str) -> str:
        return self.active[name] if name in self.active else self.asked.get(name, "")

    # Saying what a fix does.

    def changed(self, name: str, what: str, edit: dict[str, Any] | None = None) -> None:
        """The fix took effect. The same change at the same place is reported once."""
        self.took_effect.add(name)
        key = f"{name} {what} {json.dumps(edit, sort_keys=True)}"
        if key not in self.reported:
            self.reported.add(key)
            self.say(layout.FIX_ON, name, self.value_of(name), what, edit)

    def pass_over(self, name: str, reason: str) -> None:
        """One object stays as it is; others may still take the fix."""
        reasons = self.reasons.setdefault(name, [])
        if reason not in reasons:
            reasons.append(reason)

    def refuse(self, name: str, reason: str, value: str | None = None) -> None:
        """The fix cannot be applied after all, and is off from here on."""
        value = self.value_of(name) if value is None else value
        self.active.pop(name, None)
        self.say(layout.FIX_REFUSED, name, value, reason)

    def failed(self, name: str, error: BaseException) -> None:
        """An error that comes from the fix, which was rolled back."""
        text = f"{type(error).__name__}: {error}".strip()[:2000]
        if name in self.took_effect:
            self.pass_over(name, text)
        elif name in self.active:
            self.refuse(name, text)

    def say(self, value: int, name: str, setting: str, what: str, edit: dict[str, Any] | None = None) -> None:
        about: dict[str, Any] = {"fix": name, "value": setting, "what": what}
        if edit is not None:
            about["edit"] = edit
        text = json.dumps(about, default=str, separators=(",", ":"))
        if len(text.encode("utf-8", "replace")) > layout.TEXT_MAX_BYTES:
            about.pop("edit", None)
            about["what"] = what[:2000]
            text = json.dumps(about, default=str, separators=(",", ":"))
        self.queue.append((value, time.time_ns(), self.context.step, text))
        self.write()

    # Writing it.

    def works(self) -> bool:
        """It is clear that this process trains or infers."""
        context = self.context
        if context.role() != layout.ROLE_TRAINS:
            return False
        return context.step > 0 or context.ring is not None or self.optimizers.made_any

    def write(self) -> None:
        context = self.context
        if not self.queue:
            return
        if not self.works():
            context.attention = True
            return
        queue, self.queue = self.queue, []
        for value, when, step, text in queue:
            context.emit(layout.KIND_FIX, value=value, ts_ns=when, a=context.text(text), b=step)

    def reset(self) -> None:
        """In the child after a fork: it reports a change only if it trains itself."""
        self.asked = {name: value for name, value in self.asked.items() if name not in self.took_effect}
        self.reported.clear()
        self.reasons.clear()


class Report:
    """The same for one fix."""

    def __init__(self, reports: Reports, name: str) -> None:
        self.reports, self.name = reports, name

    def is_on(self) -> bool:
        return self.reports.is_on(self.name)

    def value(self) -> str:
        return self.reports.value_of(self.name)

    def took_effect(self) -> bool:
        return self.name in self.reports.took_effect

    def changed(self, what: str, edit: dict[str, Any] | None = None) -> None:
        self.reports.changed(self.name, what, edit)

    def pass_over(self, reason: str) -> None:
        self.reports.pass_over(self.name, reason)

    def refuse(self, reason: str) -> None:
        self.reports.refuse(self.name, reason)
