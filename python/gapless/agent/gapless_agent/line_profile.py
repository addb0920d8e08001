# SPDX-License-Identifier: Apache-2.0
"""Time per line of the program's own files, by `sys.settrace`.

A line's time is its own: what it spends in other traced functions is theirs; what it spends in libraries, which are not traced, is the
line's. Each thread has its own stack of lines. Tracing slows the traced code down by an order of magnitude; libraries run as fast as
ever. What it costs is known from the number of events and the time of one, which is measured at the start.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
import time
from types import CodeType, FrameType
from typing import Any

from . import host_file

_LOOP = "def loop(count):\n    total = 0\n    for number in range(count):\n        total += number\n    return total\n"
_ROUNDS = 2000


class _Thread(threading.local):
    def __init__(self) -> None:
        self.stack: list[tuple[CodeType, int]] = []
        self.last = 0


class LineProfile:
    def __init__(self) -> None:
        paths = sysconfig.get_paths()
        names = ("stdlib", "platstdlib", "purelib", "platlib")
        self.libraries = tuple({paths[name] for name in names} | {__file__.rsplit("/", 1)[0]})
        self.users: dict[CodeType, bool] = {}
        self.restart()

    def start(self) -> str:
        """Answers why not, or ""."""
        if sys.gettrace() is not None:
            return "the program is being traced already"
        self.event_ns = self._measure()
        self.restart()
        frame: FrameType | None = sys._getframe()
        outer: list[FrameType] = []
        while frame is not None:
            if self._is_users(frame.f_code):
                frame.f_trace = self._local
                outer.append(frame)
            frame = frame.f_back
        thread = self.thread
        thread.stack = [(frame.f_code, frame.f_lineno) for frame in reversed(outer)]
        thread.last = time.perf_counter_ns()
        threading.settrace(self._call)
        sys.settrace(self._call)
        return ""

    def _measure(self) -> float:
        """The time that tracing adds to an event: that of a loop with and without it."""
        names: dict[str, Any] = {}
        exec(compile(_LOOP, "gapless_measures_tracing.py", "exec"), names)  # noqa: S102 -- our own text
        loop = names["loop"]
        begun = time.perf_counter_ns()
        loop(_ROUNDS)
        plain = time.perf_counter_ns()
        sys.settrace(self._call)
        try:
            loop(_ROUNDS)
        finally:
            sys.settrace(None)
        return max(0.0, time.perf_counter_ns() - plain - (plain - begun)) / max(1, self.events)

    def cost_ns(self) -> int:
        return int(self.events * self.event_ns)

    def restart(self) -> None:
        self.events = 0
        self.started = time.time_ns()
        self.thread = _Thread()
        self.lines: dict[tuple[CodeType, int], list[int]] = {}  # hits, ns

    def _is_users(self, code: CodeType) -> bool:
        known = self.users.get(code)
        if known is None:
            name = code.co_filename
            known = self.users[code] = not name.startswith(("<", *self.libraries))
        return known

    def _pass(self, thread: _Thread) -> None:
        """The time since the last event belongs to the line on top."""
        now = time.perf_counter_ns()
        self.events += 1
        if thread.stack:
            row = self.lines.get(thread.stack[-1])
            if row is None:
                row = self.lines[thread.stack[-1]] = [0, 0]
            row[1] += now - thread.last
        thread.last = now

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event != "call" or not self._is_users(frame.f_code):
            return None
        thread = self.thread
        self._pass(thread)
        thread.stack.append((frame.f_code, frame.f_lineno))
        return self._local

    def _local(self, frame: FrameType, event: str, arg: Any) -> Any:
        thread = self.thread
        self._pass(thread)
        if event == "line":
            here = (frame.f_code, frame.f_lineno)
            if thread.stack:
                thread.stack[-1] = here
            else:
                thread.stack.append(here)
            self.lines.setdefault(here, [0, 0])[0] += 1
        elif event == "return" and thread.stack:
            thread.stack.pop()
        return self._local

    def tables(self) -> dict[str, Any]:
        sys.settrace(None)
        threading.settrace(None)
        tables = host_file.base("lines", self.started)
        rows: dict[tuple[str, int], list[int]] = {}
        for (code, line), (hits, own) in list(self.lines.items()):
            row = rows.setdefault((code.co_filename, line), [0, 0])
            row[0] += hits
            row[1] += own
        most = sorted(rows.items(), key=lambda item: -item[1][1])[: host_file.MOST_ROWS]
        tables["lines"] = [
            {"file": file, "line": line, "hits": hits, "self_ns": own, "bytes": None}
            for (file, line), (hits, own) in most
        ]
        return tables
