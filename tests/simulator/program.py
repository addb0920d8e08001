# SPDX-License-Identifier: Apache-2.0
"""A training script as data: per step the actions of the main thread, in order.

Every duration stands in the action that takes it, jitter included, so that a program that is changed and simulated again differs
by the change alone. Times are whole nanoseconds. A call to CUDA has `before_ns` of its own until the device's driver has the
request, and `after_ns` until the caller goes on; what it waits for lies between the two and is no duration of the program.
"""

from __future__ import annotations

from typing import NamedTuple, Union


class Work(NamedTuple):
    """The thread computes: in an operator when one is open, else in the interpreter between operators."""

    ns: int


class Open(NamedTuple):
    """An operator begins (or an annotation); it lasts until its Close."""

    name: str
    category: str = "cpu_op"
    sequence: int = -1  # of autograd: the forward operator and its backward share it


class Close(NamedTuple):
    """The operator opened last ends."""


class Launch(NamedTuple):
    """cudaLaunchKernel: returns when the request is queued; blocks while the queue is full."""

    kernel: str
    stream: int
    device_ns: int  # how long it runs
    before_ns: int
    after_ns: int
    latency_ns: int  # from the request to the device seeing it
    gap_ns: int  # from the end of what the stream did before to its start


class Copy(NamedTuple):
    """cudaMemcpyAsync. From the device to pageable memory it returns when the copy is done; from pageable memory, beyond 64 KiB,
    when the last piece is staged, `staged_ns` after the copy started; otherwise when it is queued, as a launch."""

    to_device: bool
    pinned: bool
    nbytes: int
    stream: int
    device_ns: int
    before_ns: int
    after_ns: int
    latency_ns: int
    gap_ns: int
    waits: bool
    staged_ns: int = 0


class Record(NamedTuple):
    """cudaEventRecord: the event is complete when all that was queued on the stream before it is."""

    event: int
    stream: int
    before_ns: int
    after_ns: int


class Await(NamedTuple):
    """cudaStreamWaitEvent: what is queued on the stream from now on waits for the event's latest record."""

    event: int
    stream: int
    before_ns: int
    after_ns: int


class Synchronize(NamedTuple):
    """cudaDeviceSynchronize, cudaStreamSynchronize (of stream `which`), cudaEventSynchronize (of event `which`)."""

    scope: str  # "device", "stream" or "event"
    which: int
    before_ns: int
    after_ns: int


class Backward(NamedTuple):
    """The thread of autograd carries out the actions while the main thread waits. Handing over costs a wake-up each way."""

    actions: tuple[Action, ...]
    there_ns: int
    back_ns: int


Action = Union[Work, Open, Close, Launch, Copy, Record, Await, Synchronize, Backward]


class Machine(NamedTuple):
    """A Machine is what the program runs on."""

    queue_depth: int = 1024  # kernels and copies queued and not done, over all streams
    kernels_at_once: int = 0  # of different streams; 0: as many as there are


class Program(NamedTuple):
    machine: Machine
    steps: tuple[tuple[Action, ...], ...]
    first_step: int = 1  # number of the first step's ProfilerStep mark
    warmup: int = 0  # steps at the beginning that the profiler does not see
