# SPDX-License-Identifier: Apache-2.0
"""Writes the steps that ended, see steps.py: several at once where they are short.

Between two steps the caches hold the program's data, and the code that writes one record costs there as much as ten records in a row.
A step waits GROUP_NS at most, and the first ones do not wait at all; a process that is killed loses what waits. For the same reason a
step's end reads one clock: what that was by the clock on the wall is worked out here. And only the step behind a group is looked at closely
(`agent.looks`: its loss, the time of its batch in the dataset), unless `every_loss` is asked for: each such look is code that is cold, too.
"""

from __future__ import annotations

from time import perf_counter_ns, time_ns
from typing import Callable, NamedTuple

from . import layout
from .agent import Agent

GROUP_NS = 100_000_000
AT_ONCE = 512  # the first steps
STEPPED_NS = 1_000_000  # the clock on the wall was set anew where it is off by more
FLAG_FIRST, NONE = layout.FLAG_FIRST, layout.NONE


class Totals(NamedTuple):
    """What had been counted at a moment."""

    perf_ns: int
    backwards: int
    samples: int
    samples_unknown: int
    wait_ns: int
    cost_ns: int


class Ended(NamedTuple):
    """A step that is not written yet: the totals at its end, first."""

    perf_ns: int
    backwards: int
    samples: int
    samples_unknown: int
    wait_ns: int
    cost_ns: int
    step: int
    flags: int
    loss: float | None


# A named tuple's own is a Python function.
new_totals: Callable[..., Totals] = tuple.__new__
new_ended: Callable[..., Ended] = tuple.__new__


class StepWriter:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        agent.write_held = self.write
        self.reset()

    def reset(self) -> None:
        self.due_ns = 0
        self.shift_ns = time_ns() - perf_counter_ns()
        self.begun: Totals | Ended = self.now()  # where the step that runs began: the last one's end

    def now(self) -> Totals:
        agent = self.agent
        return new_totals(Totals, (
            perf_counter_ns(), agent.backwards, agent.samples, agent.samples_unknown, agent.wait_ns, agent.cost_ns,
        ))  # fmt: skip

    def unix(self, perf_ns: int) -> int:
        return perf_ns + self.shift_ns

    def end_group(self, perf_ns: int, step: int) -> None:
        """Between two steps, when it is due: what waits is written, and the step that begins is looked at."""
        self.write()
        self.due_ns = perf_ns + (GROUP_NS if step > AT_ONCE else 0)
        self.agent.looks = True

    def write(self) -> None:
        """The steps that wait, by whichever thread has something to write."""
        agent, held = self.agent, self.agent.held
        ring = agent.ring or agent.open()
        self._set_clock()
        if agent.torch.cuda.is_initialized():
            agent.attention = True
        while held:
            try:
                begun, here = held.popleft()
            except IndexError:  # another thread was faster
                return
            step = here.step
            known = here.samples_unknown == begun.samples_unknown and here.samples > begun.samples
            if ring is not None:
                ring.write_step(
                    here.flags | (FLAG_FIRST if step == 0 else 0), here.backwards - begun.backwards, self.unix(begun.perf_ns),
                    here.perf_ns - begun.perf_ns, step, here.samples - begun.samples if known else NONE,
                    here.wait_ns - begun.wait_ns, here.cost_ns - begun.cost_ns, here.loss, agent.cost_ns, agent.hook_calls,
                )  # fmt: skip

    def _set_clock(self) -> None:
        """Both clocks run alike, except where somebody sets the one on the wall."""
        before = perf_counter_ns()
        unix = time_ns()
        after = perf_counter_ns()
        shift_ns = unix - (before + after) // 2
        if abs(shift_ns - self.shift_ns) > STEPPED_NS + after - before:
            self.shift_ns = shift_ns
