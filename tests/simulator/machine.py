# SPDX-License-Identifier: Apache-2.0
"""Carries out a program: the host's threads, and what a profiler sees of them and of the device.

A thread is a generator that yields the time until which it works, or the gate that it waits for. It runs ahead of the clock while
it touches nothing that others see, and is in step with it whenever it asks the device for something.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Union

from simulator.device import Clock, Device, Gate, Operation
from simulator.program import (
    Action,
    Await,
    Backward,
    Close,
    Copy,
    Launch,
    Open,
    Program,
    Record,
    Synchronize,
    Work,
)

Thread = Generator[Union[int, Gate], None, int]
MAIN, AUTOGRAD = 0, 1


class Slice(NamedTuple):
    """An operator or an annotation."""

    thread: int
    category: str
    name: str
    start_ns: int
    end_ns: int
    sequence: int


class Call(NamedTuple):
    """A call to CUDA."""

    thread: int
    name: str
    start_ns: int
    end_ns: int
    correlation: int
    submits: bool  # there is an operation of the device with this correlation


class DeviceSlice(NamedTuple):
    engine: str
    name: str
    stream: int
    start_ns: int
    end_ns: int
    correlation: int
    nbytes: int


class Wait(NamedTuple):
    """A Wait is what the profiler knows of a synchronisation when it is asked to."""

    kind: str
    start_ns: int
    end_ns: int
    correlation: int
    stream: int = -1  # that waits, or is waited for by a "Stream Sync"
    event_stream: int = -1  # where the event was recorded
    event_correlation: int = -1  # of the call that recorded it
    event: int = -1


@dataclass
class Run:
    """A Run is what happened, as a profiler that costs nothing would see it."""

    steps: list[tuple[int, int]] = field(default_factory=list)  # of the main thread
    slices: list[Slice] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    device: list[DeviceSlice] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    begin_ns: int = 0  # of the first step: when the device is done with what was asked before it

    def step_ns(self) -> float:
        """Mean length of a step: from the first one's begin until host and device are done with the last, over their number."""
        end_ns = max([self.steps[-1][1], *(slice.end_ns for slice in self.device)])
        return (end_ns - self.begin_ns) / len(self.steps)

    def after(self, warmup: int) -> Run:
        """Without the steps at the beginning. What the device still does for them is there, and no call for it."""
        start_ns = self.steps[warmup][0]
        calls = [one for one in self.calls if one.start_ns >= start_ns]
        first = calls[0].correlation
        return Run(
            self.steps[warmup:],
            [one for one in self.slices if one.start_ns >= start_ns],
            calls,
            [one for one in self.device if one.start_ns >= start_ns],
            [one for one in self.waits if one.start_ns >= start_ns],
            max([start_ns, *(one.end_ns for one in self.device if one.correlation < first)]),
        )


class Machine:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.clock = Clock()
        self.device = Device(self.clock, program.machine.kernels_at_once, self.operation_done)
        self.seen = Run()
        self.pending = 0
        self.room = Gate()  # opens, and is replaced, when the launch queue has room again
        self.recorded: dict[int, tuple[int, int, Operation]] = {}  # event: stream, correlation of the call, record
        self.correlation = 100

    def run(self) -> Run:
        self.resume(self.main())
        self.clock.run()
        return self.seen.after(self.program.warmup)

    def resume(self, thread: Thread) -> None:
        clock = self.clock
        for wanted in thread:
            if isinstance(wanted, int):
                if clock.events and clock.events[0][0] <= wanted:
                    return clock.at(wanted, self.resume, thread)
                clock.now = wanted  # nothing happens before: go on at once
            elif not wanted.passed:
                return wanted.waiting.append((self.resume, thread))

    def operation_done(self, what: tuple[int, Operation]) -> None:
        stream, done = what
        self.seen.device.append(
            DeviceSlice(done.engine, done.name, stream, done.start, self.clock.now, done.correlation, done.nbytes)
        )
        self.pending -= 1
        if self.room.waiting:
            room, self.room = self.room, Gate()
            self.clock.open(room)

    def main(self) -> Thread:
        t = self.clock.now
        for actions in self.program.steps:
            start = t
            t = yield from self.perform(MAIN, actions, t)
            self.seen.steps.append((start, t))
        # The profiler does this when it stops.
        return (yield from self.synchronize(MAIN, Synchronize("device", 0, 2_000, 2_000), t + 20_000))

    def perform(self, thread: int, actions: Sequence[Action], t: int) -> Thread:
        """Carries out actions from the time `t` on; gives the time after them."""
        opened: list[tuple[Open, int]] = []
        for action in actions:
            if isinstance(action, Work):
                t += action.ns
            elif isinstance(action, Open):
                opened.append((action, t))
            elif isinstance(action, Close):
                what, start = opened.pop()
                self.seen.slices.append(Slice(thread, what.category, what.name, start, t, what.sequence))
            else:
                t = yield from CARRIED_OUT[type(action)](self, thread, action, t)
        return t

    def backward(self, thread: int, action: Backward, t: int) -> Thread:
        done = Gate()
        yield t + action.there_ns
        self.clock.at(self.clock.now, self.resume, self.other(action.actions, done))
        yield done
        return self.clock.now + action.back_ns

    def other(self, actions: Sequence[Action], done: Gate) -> Thread:
        t = yield from self.perform(AUTOGRAD, actions, self.clock.now)
        yield t
        self.clock.open(done)
        return t

    def called(self, thread: int, name: str, start: int, end: int, correlation: int, submits: bool = False) -> int:
        self.seen.calls.append(Call(thread, name, start, end, correlation, submits))
        return end

    def next_correlation(self) -> int:
        self.correlation += 1
        return self.correlation

    def submit(self, stream: int, operation: Operation, latency_ns: int) -> Generator[Gate, None, None]:
        while self.pending >= self.program.machine.queue_depth:
            yield self.room
        self.pending += 1
        self.device.queue(stream, operation, latency_ns)

    def launch(self, thread: int, action: Launch, t: int) -> Thread:
        yield t + action.before_ns
        operation = Operation(action.kernel, "kernel", action.device_ns, action.gap_ns, self.next_correlation())
        yield from self.submit(action.stream, operation, action.latency_ns)
        end = self.clock.now + action.after_ns
        return self.called(thread, "cudaLaunchKernel", t, end, operation.correlation, True)

    def copy(self, thread: int, action: Copy, t: int) -> Thread:
        memory = "Pinned" if action.pinned else "Pageable"
        name = f"Memcpy HtoD ({memory} -> Device)" if action.to_device else f"Memcpy DtoH (Device -> {memory})"
        engine = "to_device" if action.to_device else "to_host"
        yield t + action.before_ns
        operation = Operation(name, engine, action.device_ns, action.gap_ns, self.next_correlation(), action.nbytes)
        if action.waits and action.to_device:
            operation.staged, operation.staged_ns = Gate(), action.staged_ns
        yield from self.submit(action.stream, operation, action.latency_ns)
        if action.waits:
            yield operation.staged or operation.done
        end = self.clock.now + action.after_ns
        return self.called(thread, "cudaMemcpyAsync", t, end, operation.correlation, True)

    def record(self, thread: int, action: Record, t: int) -> Thread:
        yield t + action.before_ns
        correlation = self.next_correlation()
        operation = Operation("", "", 0, 0, correlation)
        self.recorded[action.event] = (action.stream, correlation, operation)
        self.device.queue(action.stream, operation, 0)
        return self.called(thread, "cudaEventRecord", t, self.clock.now + action.after_ns, correlation)

    def wait_event(self, thread: int, action: Await, t: int) -> Thread:
        yield t + action.before_ns
        correlation = self.next_correlation()
        end = self.called(thread, "cudaStreamWaitEvent", t, self.clock.now + action.after_ns, correlation)
        if action.event in self.recorded:
            source, record, operation = self.recorded[action.event]
            waits = Operation("", "", 0, 0, correlation)
            waits.after = operation
            self.device.queue(action.stream, waits, 0)
            begin = t + action.before_ns // 2
            seen = Wait("Stream Wait Event", begin, end, correlation, action.stream, source, record, action.event)
            self.seen.waits.append(seen)
        return end

    def synchronize(self, thread: int, action: Synchronize, t: int) -> Thread:
        yield t + action.before_ns
        correlation = self.next_correlation()
        wait = Wait("Context Sync", t, t, correlation)
        awaited = [stream.last for stream in self.device.streams.values()]
        if action.scope == "stream":
            wait = Wait("Stream Sync", t, t, correlation, action.which)
            awaited = [self.device.stream(action.which).last]
        elif action.scope == "event" and action.which not in self.recorded:
            wait, awaited = Wait("Event Sync", t, t, correlation), []
        elif action.scope == "event":
            source, record, operation = self.recorded[action.which]
            wait = Wait("Event Sync", t, t, correlation, -1, source, record, action.which)
            awaited = [operation]
        for operation_or_none in awaited:
            if operation_or_none:
                yield operation_or_none.done
        end = self.clock.now + action.after_ns
        self.seen.waits.append(wait._replace(start_ns=t + action.before_ns // 2, end_ns=end))
        return self.called(thread, f"cuda{action.scope.title()}Synchronize", t, end, correlation)


CARRIED_OUT: dict[type, Callable[[Machine, int, Any, int], Thread]] = {
    Backward: Machine.backward,
    Launch: Machine.launch,
    Copy: Machine.copy,
    Record: Machine.record,
    Await: Machine.wait_event,
    Synchronize: Machine.synchronize,
}


def simulate(program: Program) -> Run:
    return Machine(program).run()
