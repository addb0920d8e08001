# SPDX-License-Identifier: Apache-2.0
"""Runs tasks on an engine until each has an outcome: those whose worker died are tried again, those whose recording is bad are not.

A worker that dies takes a pool of processes along, and nobody knows whose task it was: all in flight are charged. What was charged
as often as it may be runs once more with nothing beside it, so that no recording is lost for its neighbour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, Callable

from ..program import ProgramError
from .engines import Engine
from .task import Outcome, Task

IDLE_BREAKS = 3  # that an engine may break without a task in it

OnOutcome = Callable[[int, Outcome], None]


class _Work:
    def __init__(self, tasks: Sequence[Task], engine: Engine, retries: int, on_outcome: OnOutcome) -> None:
        self._tasks, self._engine, self._retries, self._on_outcome = tasks, engine, retries, on_outcome
        self._waiting = deque(range(len(tasks)))
        self._alone: deque[int] = deque()
        self._flying: dict[Any, int] = {}
        self._charged = [0] * len(tasks)
        self._idle_breaks = 0  # since a task was taken

    def run(self) -> None:
        try:
            while self._waiting or self._alone or self._flying:
                self._fill()
                if self._flying:
                    self._land(self._engine.wait(self._flying))
        except BaseException:
            self._engine.stop(list(self._flying))
            raise

    def _fill(self) -> None:
        room = self._engine.width() - len(self._flying)
        chosen = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
        if not chosen and not self._flying and self._alone:
            chosen = [self._alone.popleft()]
        if not chosen:
            return
        try:
            futures = self._engine.submit([self._tasks[index] for index in chosen])
        except BrokenExecutor as error:
            self._waiting.extendleft(reversed(chosen))  # never began
            self._idle_breaks += 1
            if self._idle_breaks > IDLE_BREAKS:
                raise ProgramError(f"the executor takes no task: {_first_line(error)}") from None
            self._broke(error)
            return
        self._idle_breaks = 0
        self._flying.update(zip(futures, chosen))

    def _land(self, done: set[Any]) -> None:
        alone = len(self._flying) == 1
        broke: BrokenExecutor | None = None
        casualties: list[int] = []
        for future in done:
            index = self._flying.pop(future)
            try:
                outcome = future.result()
            except BrokenExecutor as error:
                broke = error
                casualties.append(index)
                continue
            except (ProgramError, ImportError):
                raise  # that machine lacks something, and so may the others
            except Exception as error:
                # An engine that tries again by itself has done so.
                kind = "lost" if self._engine.tries_again else "died"
                outcome = Outcome(kind, f"its worker died: {type(error).__name__}: {_first_line(error)}")
            self._settle(index, outcome)
        if broke is not None:
            self._broke(broke, casualties, alone)

    def _settle(self, index: int, outcome: Outcome) -> None:
        if outcome.kind == "died":
            self._charged[index] += 1
            if self._charged[index] <= self._retries:
                self._waiting.append(index)
                return
            times = self._charged[index]
            tried = f" (tried {times} times)" if times > 1 else ""
            outcome = Outcome("lost", f"{outcome.reason}{tried}")
        self._on_outcome(index, outcome)

    def _broke(self, error: BrokenExecutor, casualties: Sequence[int] = (), alone: bool = False) -> None:
        """The engine is of no use any more. What had ended before stays; the rest was in flight."""
        in_flight = list(casualties)
        for future, index in list(self._flying.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._settle(index, future.result())
            else:
                in_flight.append(index)
        self._flying.clear()
        if not self._engine.again():
            raise ProgramError(
                f"the executor broke ({_first_line(error)}): give a function that makes one, so that it can be made anew"
            )
        for index in sorted(in_flight):
            if alone:
                self._settle(index, Outcome("died", "its worker died"))
                continue
            self._charged[index] += 1
            (self._waiting if self._charged[index] < self._retries else self._alone).append(index)


def drive(tasks: Sequence[Task], engine: Engine, retries: int, on_outcome: OnOutcome) -> None:
    """Calls `on_outcome` once for each task, with "done" or "lost", in the order in which they end. When it is interrupted, what runs
    is ended."""
    _Work(tasks, engine, retries, on_outcome).run()


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
