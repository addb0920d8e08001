# SPDX-License-Identifier: Apache-2.0
"""Python's garbage collector: every pause that a step could feel.

The callback runs in the midst of whatever allocates, possibly in the midst of the ring's own writing; so it only keeps what it saw, and
the records are written when the step ends.
"""

from __future__ import annotations

import gc
import time
from collections import deque
from typing import Any

from . import layout
from .context import Context

LONG_NS = 200_000
OLDEST_GENERATION = 2


class GcWatch:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard("Python's garbage collection", "Its pauses are not in the run from here on.")
        self.guard.let_go.append(self._leave)
        self.reset()

    def reset(self) -> None:
        self.began = 0
        self.seen: deque[tuple[int, int, int, int, int]] = deque(maxlen=256)

    def install(self) -> None:
        gc.callbacks.append(self.callback)

    def _leave(self) -> None:
        gc.callbacks.remove(self.callback)

    def callback(self, phase: str, info: Any) -> None:
        try:
            self._told(phase, info)
        except Exception as error:  # Python prints what a callback raises
            self.guard.failed(error)

    def _told(self, phase: str, info: Any) -> None:
        if phase == "start":
            self.began = time.perf_counter_ns()
            return
        began, self.began = self.began, 0
        if not self.guard.on or not began or self.context.ring is None:
            return
        took = time.perf_counter_ns() - began
        if took >= LONG_NS or info["generation"] == OLDEST_GENERATION:
            self.seen.append((time.time_ns() - took, took, info["generation"], info["collected"], self.context.step))
            self.context.attention = True

    def at_step(self, _step: int) -> None:
        while self.seen:
            when, took, generation, collected, step = self.seen.popleft()
            self.context.emit(layout.KIND_GC, value=generation, ts_ns=when, dur_ns=took, a=collected, b=step)
