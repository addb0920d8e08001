# SPDX-License-Identifier: Apache-2.0
"""Each worker of a DataLoader fetches N batches ahead (4) instead of 2."""

from __future__ import annotations

from ..constructors import Given, Plan
from ._devices import number
from ._loader import LoaderFix

USUAL = 4


class PrefetchFactor(LoaderFix):
    live = True

    def why_not(self, value: str) -> str:
        if value and number(value) is None:
            return f"{value!r} is no number of batches"
        count = number(value) or USUAL
        same = f"no workers that could fetch ahead, or prefetch_factor={count} already"
        return self.why_same(lambda own: not own.workers or own.prefetch == count, same)

    def cannot_switch(self) -> str:
        was_asked = self.tools.loader_switch is not None and self.tools.loader_switch.prefetch is None
        return self.why_not_switch(was_asked)

    def on(self, value: str) -> str:
        count = number(value) or USUAL
        if self.context.step:
            return self.switch(prefetch=count)
        self.change(lambda given: self._ahead(given, count))
        return ""

    def off(self) -> str:
        return self.switch(prefetch=None)

    def _ahead(self, given: Given, count: int) -> Plan | None:
        before = given.get("prefetch_factor") or 2
        if not given.get("num_workers"):
            self.report.pass_over("a DataLoader has no workers that could fetch ahead")
            return None
        if before == count:
            self.report.pass_over(f"a DataLoader has prefetch_factor={count} already")
            return None
        given.set(prefetch_factor=count)
        return Plan(f"prefetch_factor {before} → {count}", {"prefetch_factor": str(count)})


FIX = PrefetchFactor
