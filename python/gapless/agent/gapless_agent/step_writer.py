# SPDX-License-Identifier: Apache-2.0
"""Writes the steps that ended, see steps.py: several at once where they are short.

Between two steps the caches hold the program's data, and the code that writes one record costs there as much as ten records in a row.
A step waits GROUP_NS at most; the first ones and those that are long themselves do not wait. A process that is killed loses what waits.
For the same reason a step's end reads one clock: what that was by the clock on the wall is worked out here. And only the step behind a
group is looked at closely (`agent.looks`: its loss, the time of its batch in the dataset), unless `every_loss` is asked for: each such
look is code that is cold, too.
"""

from __future__ import annotations

from time import perf_counter_ns, time_ns
from typing import NamedTuple

from . import layout
from .context import Context
from .counts import COUNT_NS

GROUP_NS = 200_000_000
LONG_NS = 100_000_000  # steps that take so long in the mean are written at once
AT_ONCE = 128  # the first steps
CHECK_NS = 1_000_000_000
STEPPED_NS = 1_000_000  # the clock on the wall was set anew where it is off by more
FLAG_FIRST, NONE = layout.FLAG_FIRST, layout.NONE


class Totals(NamedTuple):
    """The counters at one moment."""

    perf_ns: int
    backwards: int
    samples: int
    samples_unknown: int
    wait_ns: float
    cost_ns: int


class StepWriter:
    def __init__(self, context: Context) -> None:
        self.context = context
        context.write_held = self.write
        self.reset()

    def reset(self) -> None:
        self.context.due_ns = self.check_ns = self.ended_ns = 0
        self.shift_ns = time_ns() - perf_counter_ns()
        self.context.begun = self.now()

    def now(self) -> Totals:
        context = self.context
        return Totals(
            perf_counter_ns(), context.backwards, context.samples, context.samples_unknown, context.wait_ns, context.cost_ns,
        )  # fmt: skip

    def unix(self, perf_ns: int) -> int:
        return perf_ns + self.shift_ns

    def end_group(self, perf_ns: int, step: int) -> None:
        """Between two steps, when it is due: what waits is written, and the step that begins is looked at."""
        short = perf_ns - self.ended_ns < LONG_NS * len(self.context.held)
        self.ended_ns = perf_ns
        self.write()
        if perf_ns >= self.check_ns:
            self._check(perf_ns)
        self.context.due_ns = perf_ns + (GROUP_NS if short and step > AT_ONCE else 0)
        self.context.looks = self.context.options.full

    def write(self) -> None:
        """The steps that wait, by whichever thread has something to write."""
        context, held = self.context, self.context.held
        ring = context.ring or context.open()
        while held:
            try:
                begun, here = held.popleft()
            except IndexError:  # another thread was faster
                return
            perf_ns, backwards, samples, unknown, wait_ns, cost_ns, step, flags, loss = here
            begun_ns, backwards_before, samples_before, unknown_before, wait_before_ns, cost_before_ns = begun[:6]
            count = samples - samples_before if unknown == unknown_before and samples > samples_before else NONE
            backwards -= backwards_before
            if ring is not None:
                ring.write_step(
                    flags | (FLAG_FIRST if step == 0 else 0), backwards, self.unix(begun_ns), perf_ns - begun_ns, step, count,
                    wait_ns - wait_before_ns, cost_ns - cost_before_ns + COUNT_NS * backwards, loss,
                )  # fmt: skip
        if ring is not None:
            ring.progress(context.step, context.all_cost_ns(), context.all_hook_calls())

    def _check(self, perf_ns: int) -> None:
        """Updates what changes rarely: the presence of a GPU, and the wall clock, which somebody may set anew."""
        self.check_ns = perf_ns + CHECK_NS
        for act in self.context.each_second:
            act()
        if self.context.torch.cuda.is_initialized():
            self.context.attention = True
        before = perf_counter_ns()
        unix = time_ns()
        after = perf_counter_ns()
        shift_ns = unix - (before + after) // 2
        if abs(shift_ns - self.shift_ns) > STEPPED_NS + after - before:
            self.shift_ns = shift_ns
