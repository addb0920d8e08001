# SPDX-License-Identifier: Apache-2.0
"""The steps of a recording that are as steps mostly are: without an evaluation, a checkpoint or other work beside the training in them.

A window of six steps that happens to hold an evaluation says that a step takes three times as long as it does. So the window goes on until
it has as many steps in a row as were asked for, but at most twice as many in all. Of those that it then has, the longest stretch counts.
Where half of the steps or more have such work in them, that is how this program's steps are: all of them count, and none is added.
"""

from __future__ import annotations

LEAST_SHARE = 0.2  # of a step's time; work that takes less does not change what is found


class CleanSteps:
    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.steps: list[tuple[int, bool]] = []  # number, and whether it is clean
        self.begun: tuple[int, int, int] | None = None

    def begins(self, step: int, now_ns: int, blocked_ns: int) -> None:
        self.begun = (step, now_ns, blocked_ns)

    def ended(self, now_ns: int, blocked_ns: int) -> None:
        """The step that began last has ended; `blocked_ns` is the total that steps have waited for such work."""
        if self.begun is None:
            return
        step, begun_ns, blocked_before_ns = self.begun
        self.begun = None
        self.steps.append((step, blocked_ns - blocked_before_ns < LEAST_SHARE * (now_ns - begun_ns)))

    def complete(self) -> bool:
        count = len(self.steps)
        if count < self.wanted:
            return False
        return count >= 2 * self.wanted or not self._is_rare() or len(self._longest()) >= self.wanted

    def _is_rare(self) -> bool:
        return 2 * sum(clean for _, clean in self.steps) > len(self.steps)

    def _longest(self) -> list[int]:
        best: list[int] = []
        here: list[int] = []
        for step, clean in self.steps:
            here = [*here, step] if clean else []
            if len(here) > len(best):
                best = here
        return best

    def left_out(self) -> list[int]:
        """The steps that do not count, of those that have ended and of the one that was cut off."""
        longest = self._longest()
        if not self._is_rare() or len(longest) == len(self.steps):
            return []
        cut = [] if self.begun is None else [self.begun[0]]
        return [step for step, _ in self.steps if step not in longest] + cut

    def text(self) -> str:
        busy = [str(step) for step, clean in self.steps if not clean]
        longest = self._longest()
        kept = f"steps {longest[0]} to {longest[-1]}" if len(longest) > 1 else f"step {longest[0]}"
        others = f"step {busy[0]} has" if len(busy) == 1 else f"steps {', '.join(busy)} have"
        return f"analysed of the recorded steps: {kept}; {others} an evaluation, a checkpoint or the like in it"
