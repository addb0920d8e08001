# SPDX-License-Identifier: Apache-2.0
"""Operators on the host use N threads each."""

from __future__ import annotations

from .. import edits
from ..fix import ProgramFix
from ._devices import number


class Threads(ProgramFix):
    live = True
    before: int | None = None  # as many the program had

    def why_not(self, value: str) -> str:
        count = number(value)
        if count is None:
            return f"{value!r} is no number of threads"
        if self.context.step and self.torch.get_num_threads() == count:
            return f"operators use {count} {'thread' if count == 1 else 'threads'} already"
        return ""

    def on(self, value: str) -> str:
        """A program that sets the number itself, before its first step, is overruled at that step: it is what shall be tried."""
        if self.context.step == 0:
            self.context.at_step(1, lambda: self._again(int(value)))
        self._set(int(value))
        return ""

    def off(self) -> str:
        before, self.before, after = self.before, None, self.torch.get_num_threads()
        self.torch.set_num_threads(before)
        return f"{after} → {before} threads"

    def nothing(self) -> str:
        return "operators use that many threads already"

    def _set(self, count: int) -> None:
        torch = self.torch
        before = torch.get_num_threads()
        if self.before is None:
            self.before = before
        edit = edits.after_imports(f"torch.set_num_threads({count})")
        if before != count:
            torch.set_num_threads(count)
            self.report.changed(f"{before} → {count} threads", edit)
        elif "OMP_NUM_THREADS" in self.context.options.fix_environment:  # torch came up with as many because of the fix
            self.report.changed(f"OMP_NUM_THREADS={count}", edit)

    def _again(self, count: int) -> None:
        if self.report.is_on():
            self._set(count)


FIX = Threads
