# SPDX-License-Identifier: Apache-2.0
"""Finds the end of each step and the beginning of the next, without the program's help.

The problem: an iteration of the program may fire several events (one or more optimisers, each once or several times; in inference
one or more models), and exactly one of them must end the step: the marker. Which one that is, is not known when the first fires.

The ways: the one that fires least often would do for a GAN, but of a critic that steps in each iteration and an actor that steps in
every second one it is the actor. So the marker is the optimiser that the program's loop leads to directly and most often, of equals
the last, so that the whole iteration lies in one step (loops.py). Where that shows no such loop (models that are called, parameters
written by hand, an optimiser whose every step lies in a loop of its own), it is the one that fires least often, of equals the last.

Events are kept, not yet counted, until every source that is known to exist has fired or one has fired HOLD times. Then the marker
is chosen, and the steps that its kept events ended are written afterwards, with the values of their moment. With one optimiser nothing
waits. A marker is replaced in the same way: when another source that the loop leads to directly passed the same place again without
it; when one in a loop further in has fired more than HOLD times, which is no part of a step any longer; where no loop is known or the
program has left it, when another source has fired more than twice as often since as it ever did between two of the marker. As soon as
the marker's object is gone, a new one is chosen.

Threads: an iteration lies in one thread. Threads that train at the same time have iterations, markers and kept events of their own, a
lane each, and the steps of the process are those of all. What no optimiser of torch ends (models that are called, parameters that are
written by hand) lies in one lane, whichever thread it comes from: a frame may pass through the models of several.

The cost: what is kept is a few tuples. Where the program is, is asked for until the marker is known, then only when a source fires more
often between two of the marker than it ever did. Wrong by a few steps where the pattern changes in the midst; exact otherwise.

`after_optimizer` is one function with everything in it: between two steps the caches hold the program's data, and each function that is
entered there costs ten times what it costs in a loop. Writing is put off, too: step_writer.py.
"""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING, Any, Callable

from . import layout, loops
from .context import Context
from .step_writer import StepWriter, Totals

if TYPE_CHECKING:
    from .loops import Place

HOLD = 16
FEW = 4
LANES = 64  # more than that: those of threads that have ended are dropped
SKIPPED = layout.FLAG_SKIPPED
UNSURE = -1  # a source that never fires: holds the counting until it is clear what the program does


class Lane:
    """The sources that fire in one thread, and the one of them that ends a step."""

    def __init__(self, look: Callable[[], Place] = loops.here) -> None:
        self.look = look
        self.marker: int | None = None
        self.iteration: loops.Iteration | None = None  # whose marker it is, where the loop is known
        self.seen: list[tuple[int, Place]] = []  # what fired where, until the marker and another source did
        self.ratio: dict[int, int] = {}  # the most often a source fired between two of the marker
        self.kept: list[tuple[int, Totals, int]] = []  # since the marker's last: source, when, flags

    def fired(self, source: int, here: Totals, flags: int, sure: bool) -> list[tuple[Totals, int]]:
        """Returns the ends of the steps that are now known. `sure`: no other source is known that has not fired yet."""
        if source == self.marker:
            self._count_kept()
            self.kept.clear()
            return [(here, flags)]
        self.kept.append((source, here, flags))
        often = sum(1 for kept in self.kept if kept[0] == source)
        if self.marker is not None:
            return self._choose(source) if self._replaces(source, often) else []
        if len(self.kept) > 1 or not sure:  # else it is the only one
            self.seen.append((source, self.look()))
        return self.rest() if often >= HOLD or sure else []

    def rest(self) -> list[tuple[Totals, int]]:
        """Returns the ends of steps among what is kept."""
        counts: dict[int, int] = {}
        for name, _, _ in self.kept:
            counts[name] = counts.pop(name, 0) + 1  # ordered by who fired last
        if not counts:
            return []
        seen, self.seen = self.seen, self.seen[-1:] if len(counts) == 1 else []
        self.iteration = loops.find_iteration(seen) if counts.keys() == {source for source, _ in seen} else None
        if self.iteration is not None:
            return self._choose(self.iteration.marker(seen))
        least = min(counts.values())
        return self._choose([kind for kind, number in counts.items() if number == least][-1])

    def _replaces(self, source: int, often: int) -> bool:
        """The marker does not end the steps any longer; the source does, which fired so often since."""
        usual = self.ratio.get(source, 0)
        if self.seen:
            self._meet(source)
        if self.iteration is None:
            return often > max(FEW, 2 * usual)
        sites = self.iteration.sites.setdefault(source, set())
        if often <= max(usual, len(sites)):
            return False
        place = self.look()
        site = self.iteration.site(place)
        if site in sites:  # which was passed again. Skipped steps are told elsewhere and later
            return sum(1 for name, _, flags in self.kept if name == source and not flags & SKIPPED) > len(sites)
        if site is not None:
            sites.add(site)
            return False
        if often <= max(HOLD if self.iteration.holds(place) else FEW, 2 * usual):
            return False
        self.iteration = None
        return True

    def _meet(self, source: int) -> None:
        """The marker was chosen when it alone had fired; now another source does."""
        found = loops.find_iteration([*self.seen, (source, self.look())])
        self.iteration = found if found is not None and self.marker in found.sites else None
        self.seen = []

    def gone(self, source: int) -> None:
        if self.marker == source:
            self.marker = self.iteration = None
            self.seen = []
            self._drop_rest()
        self.ratio.pop(source, None)
        if self.iteration is not None:
            # One that is made anew in each iteration may have the number of one that is gone.
            self.iteration.sites.pop(source, None)
            self.kept = [entry for entry in self.kept if entry[0] != source]

    def _choose(self, source: int) -> list[tuple[Totals, int]]:
        """A new marker; what it ended meanwhile is returned."""
        self._count_kept()
        self.marker = source
        last = max(index for index, entry in enumerate(self.kept) if entry[0] == source)
        ended = [(here, flags) for name, here, flags in self.kept if name == source]
        self.kept = self.kept[last + 1 :]
        return ended

    def _count_kept(self) -> None:
        counts: dict[int, int] = {}
        for source, _, _ in self.kept:
            counts[source] = counts.get(source, 0) + 1
        for source, number in counts.items():
            self.ratio[source] = max(number, self.ratio.get(source, 0))

    def _drop_rest(self) -> None:
        """Forgets the events that belong to the iteration whose step the marker has ended already."""
        counts: dict[int, int] = {}
        beyond = []
        for entry in self.kept:
            counts[entry[0]] = counts.get(entry[0], 0) + 1
            if counts[entry[0]] > self.ratio.get(entry[0], 0):
                beyond.append(entry)
        self.kept = beyond


class Steps:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard(
            "where steps end", "No step is counted from here on, and nothing is reported by step.", "counts_steps"
        )
        self.follow: Callable[[int], None] = lambda _step: None  # called with the number of the step that begins
        self.writer = StepWriter(context)
        self.every = context.options.every_loss and context.options.full
        self.reset()

    def reset(self) -> None:
        self.explicit = self.context.options.step == "explicit"
        self.inference = False
        self.awaited: dict[int, int] = {}  # sources known to exist that have not fired yet: the thread that made them
        self.numbers = count()  # of the steps: threads that end one at the same time get different ones
        self._clear()
        self.writer.reset()

    def _clear(self) -> None:
        self.shared = Lane(lambda: ())
        self.own = threading.local()  # the lane of this thread; Python uses the number of one that has ended again
        self.lanes: dict[int, Lane] = {0: self.shared}  # by number of the thread

    def begin(self) -> None:
        """The first step starts now, not when torch was imported."""
        if self.context.step == 0 and not any(lane.kept for lane in list(self.lanes.values())):
            self.context.begun = self.writer.now()

    def source_made(self, source: int) -> None:
        self.trains()
        self.awaited[source] = threading.get_ident()
        self.begin()

    def trains(self) -> None:
        """Changes the source of steps: until now calls of a model ended them, if anything did."""
        if self.inference:
            self.inference, self.context.sole = False, 0
            self._clear()
            self.release()

    def source_gone(self, source: int) -> None:
        self.awaited.pop(source, None)
        for lane in list(self.lanes.values()):
            lane.gone(source)

    def hold(self) -> None:
        """No step is counted until it is clear what the program does."""
        self.awaited[UNSURE] = 0

    def release(self) -> None:
        self.awaited.pop(UNSURE, None)

    def _is_sure(self) -> bool:
        """All sources have fired that may be parts of this thread's iterations: those that it or the main thread made."""
        makers = (0, threading.get_ident(), threading.main_thread().ident)
        return not any(maker in makers for maker in list(self.awaited.values()))

    def fired(self, source: int, flags: int = 0, here: Totals | None = None) -> None:
        """An optimiser stepped, or a model was called (with FLAG_INFERENCE), or parameters were written by hand: now, or when `here` says."""
        if self.explicit or not self.context.counts_steps:
            return
        self.context.sole = 0
        lane = self.shared if here is not None or flags & layout.FLAG_INFERENCE else self._lane()
        here = here or self.writer.now()
        self.awaited.pop(source, None)
        for boundary, flags_then in (ended := lane.fired(source, here, flags, not self.awaited or self._is_sure())):
            self.end(boundary, flags_then, boundary is ended[-1][0] and not lane.kept)

    def is_sole(self, source: int) -> bool:
        """Nothing but this source ends steps in this thread, and nothing waits for it."""
        lane = getattr(self.own, "lane", None)
        return lane is not None and lane.marker == source and not lane.kept

    def _lane(self) -> Lane:
        lane: Lane | None = getattr(self.own, "lane", None)
        if lane is None:
            thread = threading.get_ident()
            if len(self.lanes) >= LANES:
                self._drop_ended()
            before = self.lanes.pop(thread, None)
            if before is not None:  # of a thread that has ended
                self._flush(before)
            lane = self.lanes[thread] = self.own.lane = Lane()
        return lane

    def _drop_ended(self) -> None:
        alive = {thread.ident for thread in threading.enumerate()}
        for thread, lane in list(self.lanes.items()):
            if thread not in alive and lane is not self.shared and self.lanes.pop(thread, None) is lane:
                self._flush(lane)

    def _flush(self, lane: Lane) -> None:
        if lane.marker is None:
            for here, flags in lane.rest():
                self.end(here, flags, False)

    def after_optimizer(self, other: Callable[[Any], None]) -> Callable[[Any, Any, Any], None]:
        """The hook behind every optimiser's step. `other` is called where more than a step's end has to be looked at."""
        context, ends, every, steps = self.context, self._ends, self.every, self

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            if not context.counts_steps:
                return
            entered = context.clock()
            if context.identity(optimizer) != context.sole:
                ends(other, optimizer)
            else:
                context.fired_ns = entered
                step = next(steps.numbers)
                here = (
                    entered, context.backwards, context.samples, context.samples_unknown, context.wait_ns, context.cost_ns,
                    step, context.step_flags, context.loss,
                )  # fmt: skip
                context.held.append((context.begun, here))
                context.begun = here
                context.step = step + 1
                context.loss = None
                context.looks = every
                if entered >= context.due_ns or context.attention or context.orders[0] != context.obeyed:
                    ends(self._between, entered)
            context.hook_calls += 1
            context.cost_ns += context.clock() - entered

        return after

    def _ends(self, act: Callable[[Any], None], argument: Any) -> None:
        try:
            act(argument)
        except Exception as error:
            self.guard.failed(error)

    def _between(self, ended_ns: int) -> None:
        """A step has ended, and there is something to do before the next one."""
        context, step = self.context, self.context.step
        if ended_ns >= context.due_ns:
            self.writer.end_group(ended_ns, step)
        if context.attention or context.orders[0] != context.obeyed:
            self.follow(step)

    def flush(self) -> None:
        """The process ends: what was kept back is counted."""
        for lane in [] if self.explicit else list(self.lanes.values()):
            self._flush(lane)

    def program_says(self) -> None:
        """gapless.step(): from now on only the program ends steps. What was just counted by itself is this very step."""
        if not self.explicit:
            self.explicit, self.context.sole = True, 0
            self._clear()
            if self.context.step > 0 and self.context.begun[1] == self.context.backwards:
                return
        self.end(self.writer.now(), layout.FLAG_EXPLICIT, True)

    def end(self, here: Totals, flags: int, live: bool) -> None:
        """The step that runs ended at `here`; `live` when that is the present, and this is the thread of it."""
        context = self.context
        step = next(self.numbers)
        ended = (*here, step, flags | context.step_flags, context.loss)
        context.held.append((context.begun, ended))
        context.begun = ended
        context.step, context.loss, context.looks = step + 1, None, self.every
        if live and here.perf_ns >= context.due_ns:
            self.writer.end_group(here.perf_ns, step + 1)
        if live and (context.attention or context.orders[0] != context.obeyed):
            self.follow(step + 1)
