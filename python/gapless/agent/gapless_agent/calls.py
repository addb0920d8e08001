# SPDX-License-Identifier: Apache-2.0
"""Calls of the model that a program infers with, one by one: how long each took, on how many rows, of how many tokens.

Only where it is asked for (`calls` in the options). A call that only queues work for a device returns early, so an event is recorded
on both sides of it, and the time between them is read when it is long done; nothing waits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Callable

from . import layout
from .context import Context
from .counts import NAN

KEPT = 256  # calls whose device time is not known yet


class Calls:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard(
            "the calls of the model one by one", "Their times and sizes are not in the run from here on."
        )
        self.waiting: deque[tuple[dict[str, Any], Any, Any]] = deque()
        self.free: list[Any] = []
        self.guard.at_end(self.flush)

    def around(self, original: Callable[..., Any], asked: Callable[[Any], bool]) -> Callable[..., Any]:
        """`original`, with a record of each call of a module that is asked for."""
        context = self.context
        calls = self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not calls.guard.on or not asked(self):
                return original(self, *args, **kwargs)
            entered = time.perf_counter_ns()
            begin = calls._mark()
            unix_ns, begun = time.time_ns(), time.perf_counter_ns()
            result = original(self, *args, **kwargs)
            ended = time.perf_counter_ns()
            try:
                calls._called(unix_ns, ended - begun, begin, args, kwargs)
            except Exception as error:
                calls.guard.failed(error)
            context.hook_calls += 1
            context.cost_ns += time.perf_counter_ns() - ended + begun - entered
            return result

        return __call__

    def _mark(self) -> Any:
        """An event on the current stream; None without a device."""
        cuda = self.context.torch.cuda
        try:
            if not cuda.is_initialized() or cuda.is_current_stream_capturing():
                return None
            event = self.free.pop() if self.free else cuda.Event(enable_timing=True)
            event.record()
        except Exception as error:
            self.guard.failed(error)
            return None
        return event

    def _called(self, unix_ns: int, dur_ns: int, begin: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        rows, tokens = self._size(args, kwargs)
        record = {"value": tokens, "ts_ns": unix_ns, "dur_ns": dur_ns, "a": self.context.step, "b": rows}
        end = None if begin is None else self._mark()
        if end is None and not self.waiting:
            self.context.emit(layout.KIND_CALL, **record, x=NAN)
            return
        self.waiting.append((record, begin, end))
        while self.waiting and (len(self.waiting) > KEPT or self._is_done()):
            self._write()

    def _is_done(self) -> bool:
        end = self.waiting[0][2]
        return end is None or bool(end.query())

    def _write(self) -> None:
        done = self._is_done()
        record, begin, end = self.waiting.popleft()
        known = done and begin is not None and end is not None
        self.context.emit(layout.KIND_CALL, **record, x=begin.elapsed_time(end) * 1e6 if known else NAN)
        if known:
            self.free += [begin, end]

    def flush(self) -> None:
        while self.waiting:
            self._write()

    def _size(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, int]:
        """Rows of the input (-1: unknown), and tokens in each of them (0: it is not made of token ids)."""
        torch = self.context.torch
        first = args[0] if args else None
        named = first if isinstance(first, Mapping) else kwargs
        found = named.get("input_ids", None if first is named else first)
        if not isinstance(found, torch.Tensor):
            found = next((value for value in named.values() if isinstance(value, torch.Tensor)), None)
        if found is None or found.dim() == 0:
            return layout.NONE, 0
        ids = found.dim() == 2 and found.dtype in (torch.int64, torch.int32)
        return int(found.shape[0]), int(found.shape[1]) if ids else 0
