# SPDX-License-Identifier: Apache-2.0
"""The garbage collector no longer looks at what exists when training is under way, and runs every 1000 steps instead of by itself."""

from __future__ import annotations

import gc
import sys

from .. import edits
from ..fix import ProgramFix

FROM_STEP = 3  # model, optimiser state and batches exist
EVERY_STEPS = 1000


class GcFreeze(ProgramFix):
    live = True
    since: int | None = None  # the step at which it was switched on

    def why_not(self, value: str) -> str:
        return "" if gc.isenabled() else "the program has switched the collector off itself"

    def on(self, value: str) -> str:
        if self.context.step >= FROM_STEP:
            self._freeze()
        else:
            self.context.at_step(FROM_STEP, self._freeze)
        return ""

    def off(self) -> str:
        self.since = None
        gc.enable()
        gc.unfreeze()
        return "automatic collection is on"

    def in_child(self) -> None:
        """A worker that loads data has no steps in which it could collect."""
        if self.since is not None:
            self.since = None
            gc.enable()

    def nothing(self) -> str:
        return f"the program ended before step {FROM_STEP}"

    def _freeze(self) -> None:
        if not self.report.is_on() or self.since is not None:
            return
        gc.collect()
        gc.freeze()
        gc.disable()
        if self._thaw not in self.context.ends:
            self.context.ends.append(self._thaw)
        self.since = self.context.step
        self.context.at_step(self.context.step + EVERY_STEPS, lambda: self._collect(self.since))
        what = f"{gc.get_freeze_count()} objects are left out, automatic collection is off: every {EVERY_STEPS} steps"
        # The objects of the model exist before the loop; the comment warns the user about objects that the loop creates.
        by_hand = (
            "gc.collect()",
            "gc.freeze()",
            f"gc.disable()  # where memory grows: gc.collect(1) every {EVERY_STEPS} steps",
        )
        edit = edits.lines("before", edits.loop_around(sys._getframe()), *by_hand, imports=("import gc",))
        self.report.changed(what, edit)

    def _thaw(self) -> None:
        """The interpreter ends as it would have: what it looks through last is all there."""
        if self.since is not None:
            gc.unfreeze()
            gc.enable()

    def _collect(self, since: int | None) -> None:
        if self.since is not None and self.since == since:
            gc.collect(1)
            self.context.at_step(self.context.step + EVERY_STEPS, lambda: self._collect(since))


FIX = GcFreeze
