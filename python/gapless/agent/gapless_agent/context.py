# SPDX-License-Identifier: Apache-2.0
"""The context that every hook of this process is given: torch, the options, the counters with their clock, records, a guard,
and the moments at which something is to be done.

It knows no hook. A hook that builds on another one gets that when it is made (install.py). Hooks add to running totals (batches, waits,
backward passes, own cost); a step's values are the differences between two boundaries, so a boundary can also be drawn afterwards.

All of it is one object, for the reason that counts.py gives: the numbers (counts.py), the records (channel.py), and what is here.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable

from . import layout
from .channel import Channel
from .guard import Guard, describe
from .options import Options
from .patches import Patches


class Context(Channel):
    def __init__(self, torch: Any, run: str, options: Options) -> None:
        super().__init__(torch, run, options)
        self.patches = Patches()  # of fixes; those of a hook are its guard's
        self.ends: list[Callable[[], None]] = []  # what to do when the process ends, in order
        self.each_second: list[Callable[[], None]] = []  # what to do between two steps about once a second
        self.due: list[tuple[int, Callable[[], None]]] = []  # what to do when a step begins, and which
        self.guards: list[Guard] = []
        self.complaints: list[str] = []  # what was switched off, in the words of its message
        self.unsaid: list[str] = []  # of these, what the ring does not have yet
        self.when_opened = self.say_unsaid
        self.installing = False
        self.on = self.counts_steps = self.counts_batches = True
        self.reset()

    def reset(self) -> None:
        super().reset()
        self.blocked_ns = 0  # that steps waited for evaluations and other work beside the training
        self.looks = self.options.full
        self.unsaid = list(self.complaints)

    def guard(self, what: str, lost: str, flag: str = "") -> Guard:
        self.guards.append(Guard(self, what, lost, flag))
        return self.guards[-1]

    def at_step(self, step: int, act: Callable[[], None]) -> None:
        """Calls `act` when that step begins, or the next one when it has begun."""
        self.due.append((step, act))
        self.attention = True

    def begins(self, step: int) -> None:
        """Step `step` begins: does what is due."""
        due, self.due = self.due, []
        for when, act in due:
            if when > step:
                self.due.append((when, act))
            else:
                act()

    # Errors of our own.

    def complain(self, text: str) -> None:
        """Something is no longer watched. A process that only imports torch does not say so."""
        self.complaints.append(text)
        self.unsaid.append(text)
        if not self.installing:
            self.say_unsaid()

    def say_unsaid(self) -> None:
        try:
            while self.unsaid:
                self.message(layout.ERROR, self.unsaid.pop(0))
        except Exception as error:  # the ring itself
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """An error of our own: everything of ours ends here, and the run says so."""
        if not self.on:
            return
        try:
            self.message(
                layout.ERROR,
                f"the agent switched itself off: {describe(error)}. Nothing more is watched; the training goes on unchanged.",
            )
            if self.ring is not None:
                self.ring.set_state(layout.STATE_OFF)
        except Exception:  # noqa: S110 -- the channel itself may be what failed
            pass
        self.on = False
        for guard in self.guards:
            guard.switch_off()
        with contextlib.suppress(Exception):  # nobody is left to tell
            self.patches.undo()
