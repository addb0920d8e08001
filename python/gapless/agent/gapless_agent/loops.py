# SPDX-License-Identifier: Apache-2.0
"""Finds the loop whose iterations are the steps of a program with several optimisers, and which of them step in each.

The problem: how often optimisers step does not say what an iteration is. A critic that steps in each iteration and an actor that
steps twice in every second one step equally often, and so do five critics' steps and a generator's where the loop of the five is the
program's own.

The way: where an optimiser steps is a place, the program's calls with the position in the bytecode of each. The places of two of
them have the outer calls in common. The iteration's loop is the smallest one, in the innermost of these calls that has one, which all
places lie in. An optimiser is direct if no further loop lies between that one and its step: it steps once for each time that the loop
passes its place. Two calls of a function from the same line are not told apart; a place says all that a step of the loop has in common
with the next.

Loops are read from the bytecode, for the source need not be there: a jump back to an instruction that leads to the jump again. What
lies in the loop is what leads to the jump without passing that instruction. The range between the two would not do, since
compilers move handlers of exceptions to the end of a function.

The cost: some microseconds for a place, and milliseconds, once, for the bytecode of a long script. Neither is paid for one optimiser.
"""

from __future__ import annotations

import dis
import os
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    # The calls, outermost first, with code and position; () where they are not known.
    Place = tuple[tuple[CodeType, int], ...]

DEPTH = 128  # calls; in deeper ones nothing is looked for
LONGEST = 1 << 17  # bytes of bytecode, likewise
MOST_CODES = 1000  # whose loops are kept
_ENDS = {
    "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_FORWARD", "RAISE_VARARGS", "RERAISE", "RETURN_CONST",
    "RETURN_VALUE",
}  # fmt: skip
_AWAITS = "JUMP_BACKWARD_NO_INTERRUPT"  # the loop inside of `await` and `yield from`, which is none of the program
_loops: dict[CodeType, list[Loop]] = {}


class Loop(NamedTuple):
    code: CodeType
    body: frozenset[int]  # the positions in it


class Iteration:
    """The loop whose iterations are steps."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.sites: dict[int, set[Place]] = {}  # by direct source: its places, as seen from the loop

    def holds(self, place: Place) -> bool:
        return self._depth(place) >= 0

    def site(self, place: Place) -> Place | None:
        """The place as seen from the loop; none if that does not lead there directly."""
        depth = self._depth(place)
        if depth < 0 or innermost(*place[depth]) != self.loop:
            return None
        inner = place[depth:]
        return None if any(innermost(*call) for call in inner[1:]) else inner

    def marker(self, seen: list[tuple[int, Place]]) -> int:
        """The direct source that passed one place most often; of equals the one with fewest places, of these the last."""
        passes: dict[int, dict[Place | None, int]] = {source: {} for source in self.sites}
        last: dict[int, int] = {}
        for number, (source, place) in enumerate(seen):
            if source in passes and self.holds(place):
                site, last[source] = self.site(place), number
                passes[source][site] = passes[source].get(site, 0) + 1
        return max(passes, key=lambda source: (max(passes[source].values()), -len(passes[source]), last[source]))

    def _depth(self, place: Place) -> int:
        """Returns the depth of the innermost call that is in the loop; -1 if none is."""
        code, body = self.loop
        return max((depth for depth, call in enumerate(place) if call[0] is code and call[1] in body), default=-1)


def find_iteration(seen: list[tuple[int, Place]]) -> Iteration | None:
    """From the places of events by source, in their order; none where no loop is known, or no source that it leads to directly."""
    latest = dict(seen)
    loop = common_loop(list(latest.values())) if len(latest) > 1 else None
    if loop is None:
        return None
    found, indirect = Iteration(loop), set()
    for source, place in seen:
        if found.holds(place):
            site = found.site(place)
            if site is None:
                indirect.add(source)
            else:
                found.sites.setdefault(source, set()).add(site)
    for source in indirect:
        found.sites.pop(source, None)
    return found if found.sites and not turns_by_source([event for event in seen if event[0] in found.sites]) else None


def turns_by_source(direct: list[tuple[int, Place]]) -> bool:
    """The loop has one source after the other in the same place, and each fires several times in a row: it is no iteration."""
    rows = {event for event, following in zip(direct, direct[1:]) if event == following}
    return any(place == other and source != one for source, place in rows for one, other in direct)


def common_loop(places: list[Place]) -> Loop | None:
    """The smallest loop, in the innermost call that has one, that all places lie in."""
    found: Loop | None = None
    for calls in zip(*places):
        code, positions = calls[0][0], {position for _, position in calls}
        if any(call[0] is not code for call in calls):
            break
        found = next((loop for loop in loops_of(code) if positions <= loop.body), found)
        if len(positions) > 1:  # what is called from different lines is not the same call
            break
    return found


def innermost(code: CodeType, position: int) -> Loop | None:
    return next((loop for loop in loops_of(code) if position in loop.body), None)


def loops_of(code: CodeType) -> list[Loop]:
    """The smallest first."""
    found = _loops.get(code)
    if found is None:
        if len(_loops) >= MOST_CODES:
            _loops.clear()
        found = _loops[code] = _read_loops(code) if len(code.co_code) <= LONGEST else []
    return found


def _read_loops(code: CodeType) -> list[Loop]:
    instructions = list(dis.get_instructions(code))
    jumps = set(dis.hasjrel) | set(dis.hasjabs)
    before: dict[int, list[int]] = {}  # the instructions that lead to one
    back: list[tuple[int, int]] = []
    ends = [one.offset for one in instructions[1:]] + [len(code.co_code)]
    for one, following in zip(instructions, ends):
        if one.opname not in _ENDS:
            before.setdefault(following, []).append(one.offset)
        if one.opcode in jumps:
            before.setdefault(one.argval, []).append(one.offset)
            if one.argval <= one.offset and one.opname != _AWAITS:
                back.append((one.argval, one.offset))
    bodies: dict[int, set[int]] = {}
    for head, jump in back:
        body = _leading_to(jump, head, before)
        # Not a way back from a handler of exceptions, nor one with another way in than the head.
        if head in body and (head == 0 or 0 not in body):
            bodies.setdefault(head, set()).update(body)
    length = {one.offset: following for one, following in zip(instructions, ends)}
    loops = [
        # The position of a call may be any of its units: the bytecode has data behind an instruction.
        Loop(code, frozenset(unit for offset in body for unit in range(offset, length[offset], 2)))
        for body in bodies.values()
    ]
    return sorted(loops, key=lambda loop: len(loop.body))


def _leading_to(jump: int, head: int, before: dict[int, list[int]]) -> set[int]:
    """The instructions on ways from the head of a loop to its jump, and those on ways from elsewhere."""
    body, open_ones = {jump}, [jump]
    while open_ones:
        one = open_ones.pop()
        if one != head:
            fresh = [other for other in before.get(one, ()) if other not in body]
            body.update(fresh)
            open_ones += fresh
    return body


@lru_cache(maxsize=1)
def _passed_over() -> tuple[str, ...]:
    """The folders whose calls are not the program's."""
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    files = [__file__] if torch is None else [__file__, torch]
    return tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in files)


def here() -> Place:
    """Returns the place of the program in this thread: its calls, outermost first."""
    frame: FrameType | None = sys._getframe(1)
    calls: list[tuple[CodeType, int]] = []
    passed_over = _passed_over()
    for _ in range(DEPTH):
        if frame is None:
            return tuple(reversed(calls))
        code = frame.f_code
        if not code.co_filename.startswith(passed_over):
            calls.append((code, frame.f_lasti))
        frame = frame.f_back
    return ()
