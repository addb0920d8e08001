# SPDX-License-Identifier: Apache-2.0
"""Where one step ends and the next begins, found without the program's help.

The problem: an iteration of the program may fire several events (one or more optimisers, each once or several times; in inference
one or more models), and exactly one of them must end the step. The slowest of them does: the one that fires least often. Of those
equally slow, the last one, so that the whole iteration lies in one step. Which one that is, is not known when the first fires.

The way: events are kept, not yet counted, until every source that is known to exist has fired or one has fired HOLD times. Then
the marker is chosen, and the steps that its kept events ended are written afterwards, with the values of their moment. With one
optimiser nothing waits. A marker that stops firing (the program goes into another phase) is replaced in the same way: when another
source has fired more than twice as often since as it ever did between two of the marker, or as soon as the marker's object is gone.

The cost: what is kept is a few tuples. Wrong by a few steps where the pattern changes in the midst; exact otherwise.

Where steps are short, several are written at once: between two steps the caches hold the program's data, and the code that writes one
record costs there as much as ten records in a row. A step waits GROUP_NS at most, and the first ones do not wait at all; a process
that is killed loses what waits.
"""

from __future__ import annotations

from time import perf_counter_ns, time_ns
from typing import Callable, NamedTuple

from . import layout
from .agent import Agent

HOLD = 16
GROUP_NS = 100_000_000
AT_ONCE = 512  # the first steps
FLAG_FIRST, NONE = layout.FLAG_FIRST, layout.NONE


class Boundary(NamedTuple):
    unix_ns: int
    perf_ns: int
    backwards: int
    samples: int
    samples_unknown: int
    wait_ns: int
    cost_ns: int


new_tuple: Callable[..., Boundary] = tuple.__new__  # a named tuple's own is a Python function


class Steps:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.follow: Callable[[int], None] = lambda _step: None  # called with the number of the step that begins
        agent.write_held = self.write
        self.reset()

    def reset(self) -> None:
        self.explicit = self.agent.options.step == "explicit"
        self.inference = False
        self.awaited: set[int] = set()  # sources known to exist that have not fired yet
        self.marker: int | None = None
        self.ratio: dict[int, int] = {}  # the most often a source fired between two of the marker
        self.kept: list[tuple[int, Boundary, int]] = []  # since the marker's last: source, when, flags
        self.due_ns = 0
        self.begun = self.now()

    def now(self) -> Boundary:
        agent = self.agent
        return new_tuple(Boundary, (
            time_ns(), perf_counter_ns(), agent.backwards, agent.samples, agent.samples_unknown,
            agent.wait_ns, agent.cost_ns,
        ))  # fmt: skip

    def begin(self) -> None:
        """The first step starts now, not when torch was imported."""
        if self.agent.step == 0 and not self.kept:
            self.begun = self.now()

    def source_made(self, source: int) -> None:
        if self.inference:  # a program that infers and then trains: another marker
            self.inference, self.marker = False, None
            self.kept.clear()
            self.ratio.clear()
        self.awaited.add(source)
        self.begin()

    def source_gone(self, source: int) -> None:
        self.awaited.discard(source)
        self.ratio.pop(source, None)
        if self.marker == source:
            self.marker = None

    def fired(self, source: int, flags: int = 0) -> None:
        """An optimiser stepped (or a model was called, with FLAG_INFERENCE)."""
        if self.explicit:
            return
        agent = self.agent
        here = new_tuple(Boundary, (  # as now(): one call less in the one that every step makes
            time_ns(), perf_counter_ns(), agent.backwards, agent.samples, agent.samples_unknown,
            agent.wait_ns, agent.cost_ns,
        ))  # fmt: skip
        if source == self.marker:
            if self.kept:
                self._count_kept()
                self.kept.clear()
            self.end(here, flags, True)
            return
        self.awaited.discard(source)
        self.kept.append((source, here, flags))
        often = sum(1 for kept in self.kept if kept[0] == source)
        if self.marker is not None:
            if often > max(4, 2 * self.ratio.get(source, 0)):
                self._choose(source)
        elif often >= HOLD or not self.awaited:
            self._choose(None)

    def _count_kept(self) -> None:
        counts: dict[int, int] = {}
        for source, _, _ in self.kept:
            counts[source] = counts.get(source, 0) + 1
        for source, count in counts.items():
            self.ratio[source] = max(count, self.ratio.get(source, 0))

    def _choose(self, source: int | None) -> None:
        """A new marker; what it ended meanwhile is written now."""
        if source is None:
            counts: dict[int, int] = {}
            for name, _, _ in self.kept:
                counts[name] = counts.pop(name, 0) + 1  # ordered by who fired last
            least = min(counts.values())
            source = [one for one, count in counts.items() if count == least][-1]
        self._count_kept()
        self.marker = source
        kept, self.kept = self.kept, []
        last = max(index for index, entry in enumerate(kept) if entry[0] == source)
        for index, (name, boundary, flags) in enumerate(kept):
            if name == source:
                self.end(boundary, flags, index == len(kept) - 1)
            elif index > last:
                self.kept.append((name, boundary, flags))

    def flush(self) -> None:
        """The process ends: what was kept back is counted."""
        if self.marker is None and self.kept and not self.explicit:
            self._choose(None)

    def program_says(self) -> None:
        """gapless.step(): from now on only the program ends steps. What was just counted by itself is this very step."""
        if not self.explicit:
            self.explicit = True
            self.kept.clear()
            if self.agent.step > 0 and self.begun.backwards == self.agent.backwards:
                return
        self.end(self.now(), layout.FLAG_EXPLICIT, True)

    def end(self, here: Boundary, flags: int, live: bool) -> None:
        """The step that runs ended at `here`; `live` when that is the present."""
        agent = self.agent
        step = agent.step
        agent.held.append((self.begun, here, step, flags | agent.step_flags, agent.loss))
        self.begun, agent.step, agent.loss = here, step + 1, None
        if here.perf_ns >= self.due_ns:
            self.write()
        if live:
            self.follow(step + 1)

    def write(self) -> None:
        """The steps that wait, by whichever thread has something to write."""
        agent, held = self.agent, self.agent.held
        ring = agent.ring or agent.open()
        while held:
            try:
                begun, here, step, flags, loss = held.popleft()
            except IndexError:  # another thread was faster
                return
            self.due_ns = here.perf_ns + (GROUP_NS if step >= AT_ONCE else 0)
            known = here.samples_unknown == begun.samples_unknown and here.samples > begun.samples
            if ring is not None:
                ring.write_step(
                    flags | (FLAG_FIRST if step == 0 else 0), here.backwards - begun.backwards, begun.unix_ns,
                    here.perf_ns - begun.perf_ns, step, here.samples - begun.samples if known else NONE,
                    here.wait_ns - begun.wait_ns, here.cost_ns - begun.cost_ns, loss, agent.cost_ns, agent.hook_calls,
                )  # fmt: skip
