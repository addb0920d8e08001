# SPDX-License-Identifier: Apache-2.0
"""Stacks of all Python threads at a fixed rate, taken by a thread of our own.

A stack is a path in a tree whose nodes are made once, so a sample is one number. The sampler needs the interpreter's lock to look.
Python hands it over after 5 ms at the latest, and earlier wherever a thread gives it up by itself, so that busy code would be seen too
seldom: while stacks are sampled, it is handed over after half a millisecond. A thread that keeps it for longer (an extension that
computes without releasing it) is seen late, and the sample counts for the time that really passed since the last one. What was seen is written at the end, and now and then before, each time twice as late, so that a
killed process leaves something and a long one is not held up.

Frames of a running thread are only good while the interpreter's lock is held. Python 3.11 makes their objects when they are asked for, and
making one may collect garbage, which calls the functions of `gc.callbacks`, which may hand the lock over: the thread runs on, and Python
writes into a frame that is there no more. So a stack is fetched by one call into C, in which nothing of Python runs: collecting is
switched off, `accumulate` asks for `f_back` again and again until there is none, and that error ends the call. Between it and switching
collecting on again Python hands nothing over either, so that the program never sees it off.

That call returns places, not frames, and drops the frames itself. A frame that this thread held would keep the locals of a function that
has returned, and would drop them here: the program's tensors would be freed late, and objects that belong to a thread in another one.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from itertools import accumulate, chain, repeat, starmap
from operator import attrgetter, itemgetter
from types import CodeType, FrameType
from typing import Any, Callable

from . import host_file
from .edits import is_own

MOST_SAMPLES = 2_000_000
DEEPEST = 200
FIRST_SAVE_S = 5.0
SWITCH_S = 0.0005
SHOWN = 30
PLACE = attrgetter("f_code", "f_lineno")


def undisturbed(items: Iterator[Any]) -> list[Any]:
    """Returns the items until one of them is an error, fetched while nothing else of Python runs."""
    found: list[Any] = []
    around = chain(starmap(gc.isenabled, ((),)), starmap(gc.disable, ((),)), items, map(getattr, (None,), ("f_back",)))
    try:
        found.extend(around)
    except (AttributeError, KeyError):  # always: the last one is an error
        if found[0]:
            gc.enable()
    return found[2:]


def current_frames() -> Iterator[dict[int, FrameType]]:
    return starmap(sys._current_frames, ((),))


def running() -> list[int]:
    """Returns the threads that run Python code."""
    (idents,) = undisturbed(map(list, current_frames()))
    return list(idents)


def stack_of(ident: int) -> list[tuple[CodeType, int | None]]:
    """Returns the code and the line of each frame of a thread, the innermost first; none if it has ended."""
    leaf = map(itemgetter(ident), current_frames())
    return undisturbed(map(PLACE, accumulate(chain(leaf, repeat("f_back", DEEPEST)), getattr)))


def why_not() -> str:
    """Says why stacks cannot be sampled, "" if they can."""
    has_lock: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return (
        "" if has_lock() else "this Python has no global lock, without which stacks of running threads cannot be read"
    )


class Sampler:
    def __init__(
        self,
        hz: int,
        seconds: int,
        save: Callable[[Sampler, bool], None],
        failed: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self.failed = failed
        self.period_ns = 1_000_000_000 // hz
        self.hz, self.seconds, self.save = hz, seconds, save
        self.started = time.time_ns()
        self.frames: dict[CodeType, int] = {}
        self.nodes: dict[tuple[int, int, int], int] = {}
        self.inside: list[bool] = []  # per node: below the fetching of a batch
        self.threads: dict[int, int] = {}
        self.names: list[dict[str, Any]] = []
        self.ts_ns: list[int] = []
        self.dur_ns: list[int] = []
        self.thread: list[int] = []
        self.node: list[int] = []
        self.taken = 0  # samples that take_in_dataset has answered with
        self.stopping = threading.Event()
        self.runner = threading.Thread(target=self._run, name="gapless sampler", daemon=True)

    def start(self) -> None:
        self.switch_s = sys.getswitchinterval()
        sys.setswitchinterval(min(self.switch_s, SWITCH_S))
        self.runner.start()

    def stop(self) -> None:
        self.stopping.set()
        sys.setswitchinterval(self.switch_s)
        if threading.current_thread() is not self.runner:
            self.runner.join(5)

    def _run(self) -> None:
        me = threading.get_ident()
        began = last = time.perf_counter_ns()
        save_at = FIRST_SAVE_S
        while not self.stopping.wait(max(0.0, (last + self.period_ns - time.perf_counter_ns()) / 1e9)):
            now = time.perf_counter_ns()
            try:
                self._look(me, now - last)
                last = now
                elapsed = (now - began) / 1e9
                if (self.seconds and elapsed >= self.seconds) or len(self.node) > MOST_SAMPLES:
                    sys.setswitchinterval(self.switch_s)
                    self.save(self, True)
                    return
                if not self.seconds and elapsed >= save_at:
                    save_at *= 2
                    self.save(self, False)
            except Exception as error:
                self.failed(error)
                return

    def _look(self, me: int, passed_ns: int) -> None:
        now = time.time_ns()
        for ident in running():
            stack = stack_of(ident) if ident != me else []
            if stack:
                self.ts_ns.append(now)
                self.dur_ns.append(passed_ns)
                self.thread.append(self._thread(ident))
                self.node.append(self._node(stack))

    def _thread(self, ident: int) -> int:
        index = self.threads.get(ident)
        if index is None:
            index = self.threads[ident] = len(self.names)
            name = next((thread.name for thread in threading.enumerate() if thread.ident == ident), str(ident))
            self.names.append({"id": ident, "name": name})
        return index

    def _node(self, stack: list[tuple[CodeType, int | None]]) -> int:
        node = -1
        for code, line in reversed(stack):
            if is_own(code.co_filename):  # what the agent wraps is the program's
                continue
            index = self.frames.setdefault(code, len(self.frames))
            key = (node, index, line or code.co_firstlineno)
            found = self.nodes.get(key)
            if found is None:
                found = self.nodes[key] = len(self.nodes)
                fetches = code.co_name == "fetch" and code.co_filename.endswith("_utils/fetch.py")
                self.inside.append(fetches or (node >= 0 and self.inside[node]))
            node = found
        return node

    def take_in_dataset(self) -> dict[str, int]:
        """Own time by function below the fetching of batches, since the last call; the largest first."""
        until = len(self.node)
        codes, keys = list(self.frames), list(self.nodes)
        found: dict[str, int] = {}
        for place in range(self.taken, until):
            node = self.node[place]
            if self.inside[node]:
                code = codes[keys[node][1]]
                name = f"{code.co_name} ({code.co_filename}:{code.co_firstlineno})"
                found[name] = found.get(name, 0) + self.dur_ns[place]
        self.taken = until
        return dict(sorted(found.items(), key=lambda item: -item[1])[:SHOWN])

    def tables(self) -> dict[str, Any]:
        tables = host_file.base("sample", self.started)
        count = len(self.node)
        keys = list(self.nodes)
        frames = [
            {
                "file": code.co_filename,
                "line": code.co_firstlineno,
                "function": getattr(code, "co_qualname", code.co_name),
            }
            for code in list(self.frames)
        ]
        functions, lines = self._sums(count, keys)
        rows = sorted(functions.items(), key=lambda item: -item[1][0])[: host_file.MOST_ROWS]
        tables["functions"] = [
            {**frames[index], "calls": None, "self_ns": own, "total_ns": total} for index, (own, total) in rows
        ]
        most = sorted(lines.items(), key=lambda item: -item[1])[: host_file.MOST_ROWS]
        tables["lines"] = [
            {"file": frames[index]["file"], "line": line, "hits": None, "self_ns": own, "bytes": None}
            for (index, line), own in most
        ]
        tables["samples"] = {
            "hz": self.hz, "threads": self.names, "frames": frames, "nodes": keys,
            "ts_ns": self.ts_ns[:count], "dur_ns": self.dur_ns[:count], "thread": self.thread[:count], "node": self.node[:count],
        }  # fmt: skip
        return tables

    def _sums(
        self, count: int, keys: list[tuple[int, int, int]]
    ) -> tuple[dict[int, list[int]], dict[tuple[int, int], int]]:
        """Own and total time per function, own time per line."""
        by_node: dict[int, int] = {}
        for node, dur_ns in zip(self.node[:count], self.dur_ns[:count]):
            by_node[node] = by_node.get(node, 0) + dur_ns
        functions: dict[int, list[int]] = {}
        lines: dict[tuple[int, int], int] = {}
        for node, dur_ns in by_node.items():
            parent, frame, line = keys[node]
            functions.setdefault(frame, [0, 0])[0] += dur_ns
            lines[(frame, line)] = lines.get((frame, line), 0) + dur_ns
            seen: set[int] = set()
            while True:
                if frame not in seen:
                    seen.add(frame)
                    functions.setdefault(frame, [0, 0])[1] += dur_ns
                if parent < 0:
                    break
                parent, frame, _ = keys[parent]
        return functions, lines
