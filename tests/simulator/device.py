# SPDX-License-Identifier: Apache-2.0
"""The device: streams that carry out in order what is queued on them, side by side as far as the engines allow.

After the CUDA programming guide: operations of one stream run in the order of their calls; operations of different streams may
run at once; an event is complete when all work queued on its stream before its record is; a stream that waits for an event holds
back what is queued after the wait. Copies in each direction have one engine; kernels have one each, or as many as are given.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any, Callable

Callback = Callable[[Any], None]


class Clock:
    """The events to come, in order of time; those of one instant in the order in which they were announced."""

    def __init__(self) -> None:
        self.now = 0
        self.events: list[tuple[int, int, Callback, Any]] = []
        self.announced = 0

    def at(self, time_ns: int, callback: Callback, what: Any) -> None:
        self.announced += 1
        heapq.heappush(self.events, (time_ns, self.announced, callback, what))

    def open(self, gate: Gate) -> None:
        """Who waits goes on at this instant, but after what is being done."""
        gate.passed = True
        for callback, what in gate.waiting:
            self.at(self.now, callback, what)
        gate.waiting = []

    def run(self) -> None:
        while self.events:
            self.now, _, callback, what = heapq.heappop(self.events)
            callback(what)


class Gate:
    """Something that happens once, and what is to be called then."""

    __slots__ = ("passed", "waiting")

    def __init__(self) -> None:
        self.passed = False
        self.waiting: list[tuple[Callback, Any]] = []


class Operation:
    """A kernel, a copy, or what orders them: the record of an event (no engine, no time) or a wait for one (`after`)."""

    __slots__ = ("after", "arrival", "correlation", "device_ns", "done", "engine", "gap_ns", "name", "nbytes", "staged",
                 "staged_ns", "start")  # fmt: skip

    def __init__(self, name: str, engine: str, device_ns: int, gap_ns: int, correlation: int, nbytes: int = 0) -> None:
        self.name, self.engine, self.device_ns, self.gap_ns = name, engine, device_ns, gap_ns
        self.correlation, self.nbytes = correlation, nbytes
        self.arrival = self.start = 0
        self.done = Gate()
        self.after: Operation | None = None
        self.staged: Gate | None = None
        self.staged_ns = 0


class Stream:
    __slots__ = ("busy", "free_at", "last", "number", "queue")

    def __init__(self, number: int) -> None:
        self.number = number
        self.queue: deque[Operation] = deque()
        self.last: Operation | None = None  # queued last
        self.busy = False  # its first operation runs, or waits in a queue of its engine or for an event
        self.free_at = -(1 << 60)  # when what ran before ended


class Device:
    def __init__(self, clock: Clock, kernels_at_once: int, done: Callback) -> None:
        """`done` is called with (stream's number, operation) for each kernel and copy at its end."""
        self.clock, self.done = clock, done
        self.streams: dict[int, Stream] = {}
        self.free = {"kernel": kernels_at_once or (1 << 60), "to_device": 1, "to_host": 1}
        self.waiting: dict[str, deque[Stream]] = {engine: deque() for engine in self.free}

    def stream(self, number: int) -> Stream:
        return self.streams.setdefault(number, Stream(number))

    def queue(self, number: int, operation: Operation, latency_ns: int) -> None:
        stream = self.stream(number)
        operation.arrival = self.clock.now + latency_ns
        stream.last = operation
        stream.queue.append(operation)
        if len(stream.queue) == 1:
            self.advance(stream)

    def advance(self, stream: Stream) -> None:
        """Starts the stream's first operation if nothing holds it back; whatever does calls this again."""
        while stream.queue and not stream.busy:
            operation = stream.queue[0]
            if operation.arrival > self.clock.now:
                return self.clock.at(operation.arrival, self.advance, stream)
            if operation.engine:
                return self.start(stream, operation)
            if operation.after and not operation.after.done.passed:
                stream.busy = True
                return operation.after.done.waiting.append((self.released, stream))
            stream.queue.popleft()
            self.clock.open(operation.done)

    def released(self, stream: Stream) -> None:
        stream.busy = False
        stream.free_at = self.clock.now
        self.advance(stream)

    def start(self, stream: Stream, operation: Operation) -> None:
        stream.busy = True
        if not self.free[operation.engine]:
            return self.waiting[operation.engine].append(stream)
        self.free[operation.engine] -= 1
        operation.start = max(self.clock.now, stream.free_at + operation.gap_ns)
        if operation.staged:
            self.clock.at(operation.start + operation.staged_ns, self.clock.open, operation.staged)
        self.clock.at(operation.start + operation.device_ns, self.complete, stream)

    def complete(self, stream: Stream) -> None:
        operation = stream.queue.popleft()
        stream.busy = False
        stream.free_at = self.clock.now
        self.free[operation.engine] += 1
        if self.waiting[operation.engine]:
            next_stream = self.waiting[operation.engine].popleft()
            next_stream.busy = False
            self.advance(next_stream)
        self.done((stream.number, operation))
        self.clock.open(operation.done)
        self.advance(stream)
