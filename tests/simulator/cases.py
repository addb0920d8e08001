# SPDX-License-Identifier: Apache-2.0
"""Small programs, one for each thing that is easy to get wrong: every step is the same, no duration varies."""

from __future__ import annotations

import random
from typing import Callable

from simulator.kineto import Recorder
from simulator.program import Machine, Program
from simulator.schedules import COPY_STREAM, SIDE_STREAMS, Schedule
from simulator.script import MAIN_STREAM, Layer, Pace, Script

SIDE, OTHER = SIDE_STREAMS
STEPS = 4

# Case that is not predicted yet → reason.
OPEN = {
    "in full swing": "what the device still does for the step before counts as the first step's",
    "in full swing, loader": "without synchronisations the step before would reach into the first",
    "queue full mostly": "calls that wait for room count as the host's work when most calls do",
    "items": "refused: the check of the host leaves out the time between a call and its kernel, and after a wait",
    "pageable batch": "the call waits for the stream, and that counts as the host's work",
    "pageable batch alone": "whether the copy takes as long as before depends on what is asked",
    "autograd": "the time to hand over between threads stays as it is",
}


def layers(script: Script, count: int, device_us: float, stream: int = MAIN_STREAM) -> None:
    """On the host 20 µs each."""
    for _ in range(count):
        script.layer(Layer("aten::linear", "aten::addmm", "gemm", 1000 * device_us, 10_000, 5_000, stream))


def items(script: Script) -> None:
    for _ in range(10):
        layers(script, 2, 20)
        script.item(0, pinned=False)


def pageable_batch(script: Script) -> None:
    """The copy waits for what the step before left on the stream, and the host for the copy."""
    script.batch(10_000_000, pinned=False)
    layers(script, 40, 40)


def pageable_batch_alone(script: Script) -> None:
    script.batch(10_000_000, pinned=False)
    layers(script, 40, 4)


def event_synchronize(script: Script) -> None:
    layers(script, 20, 300)
    script.record(2, MAIN_STREAM)
    layers(script, 2, 50)
    script.synchronize("event", 2)


def bound_wait(script: Script) -> None:
    """The side stream's kernels take longer than the main one's; the main one waits for them."""
    for event in (10, 20, 30):
        layers(script, 2, 40)
        script.record(event, MAIN_STREAM)
        script.wait(event, SIDE)
        layers(script, 4, 80, SIDE)
        script.record(event + 1, SIDE)
        script.wait(event + 1, MAIN_STREAM)


def idle_wait(script: Script) -> None:
    """The wait is over when it is asked for: the host is slower than the device. With a faster host it is not."""
    for event in (10, 20, 30, 40):
        layers(script, 2, 15)
        script.record(event, MAIN_STREAM)
        script.wait(event, SIDE)
        layers(script, 2, 15, SIDE)
        script.record(event + 1, SIDE)
        script.wait(event + 1, MAIN_STREAM)


def late_record(script: Script) -> None:
    """The event is recorded on a stream that is not the one that was launched on last."""
    for event in (10, 20, 30):
        layers(script, 1, 60)
        script.record(event, MAIN_STREAM)
        script.wait(event, SIDE)
        layers(script, 2, 25, SIDE)
        layers(script, 1, 20, OTHER)
        script.record(event + 1, SIDE)
        script.wait(event + 1, MAIN_STREAM)


def beside(script: Script) -> None:
    """Two streams with work for the whole device at once."""
    for event in (10, 20, 30, 40):
        layers(script, 4, 40)
        script.record(event, MAIN_STREAM)
        script.wait(event, SIDE)
        layers(script, 4, 40, SIDE)
        layers(script, 4, 40)
        script.record(event + 1, SIDE)
        script.wait(event + 1, MAIN_STREAM)


def prefetch(script: Script) -> None:
    script.batch(30_000_000, pinned=True, stream=COPY_STREAM)
    script.record(1, COPY_STREAM)
    script.wait(1, MAIN_STREAM)
    layers(script, 30, 30)


def autograd(script: Script) -> None:
    layers(script, 30, 3)
    inner = Script(script.rng, script.pace)
    for _ in range(30):
        inner.open("autograd::engine::evaluate_function: AddmmBackward0")
        layers(inner, 1, 6)
        inner.close()
    script.backward(inner)
    layers(script, 10, 3)


def loader(script: Script) -> None:
    script.loader(1_000_000)
    layers(script, 60, 40)
    script.item(0, pinned=False)


def case(
    name: str, write: Callable[[Script], None], changes: str, recorder: Recorder, machine: Machine, warmup: int = 0
) -> Schedule:
    script = Script(random.Random(1), Pace(0, 0, 5_000))
    write(script)
    program = Program(machine, (tuple(script.actions),) * STEPS, warmup=warmup)
    return Schedule(0, name, program, recorder, tuple(changes.split()))


def cases() -> list[Schedule]:
    plain, rows, one, endless = Recorder(), Recorder(sync_events=True), Machine(1024, 1), Machine()
    full = Recorder(blocks=864)
    old = Recorder(whole_microseconds=True)
    return [
        case("device bound", lambda script: layers(script, 60, 40), "kernels=0.3 kernels=2.0 host=0.5 host=1.5", plain, endless),
        case("host bound", lambda script: layers(script, 60, 4), "kernels=0.3 kernels=2.0 host=0.5 host=1.5", plain, endless),
        case("host bound, whole microseconds", lambda script: layers(script, 60, 2.9), "kernels=0.3 host=0.5", old, endless),
        case("loader", loader, "kernels=0.3 host=0.5 sync host=1.5", plain, endless),
        case("in full swing", lambda script: layers(script, 60, 40), "kernels=0.5 host=0.5", plain, endless, 1),
        case("in full swing, loader", loader, "kernels=0.3 sync host=0.5", plain, endless, 1),
        case("queue full at times", lambda script: layers(script, 80, 80), "kernels=0.3 host=1.5", plain, Machine(64)),
        case("queue full mostly", lambda script: layers(script, 128, 80), "kernels=0.3 host=1.5", plain, Machine(64)),
        case("items", items, "kernels=0.5 host=0.4 sync", plain, endless),
        case("pageable batch", pageable_batch, "kernels=0.3 host=0.5 host=1.5 sync", plain, endless),
        case("pageable batch alone", pageable_batch_alone, "host=0.5 host=1.5 sync sync,host=0.5", plain, endless),
        case("event synchronize", event_synchronize, "kernels=0.6 host=0.5 sync", plain, endless),
        case("event synchronize, rows", event_synchronize, "kernels=0.6 host=0.5 sync", rows, endless),
        case("bound wait", bound_wait, "kernels=0.3 kernels=2.0 host=0.4", plain, endless),
        case("bound wait, rows", bound_wait, "kernels=0.3 kernels=2.0 host=0.4", rows, endless),
        case("idle wait", idle_wait, "kernels=2.0 kernels=4.0 host=0.4", plain, endless),
        case("idle wait, rows", idle_wait, "kernels=2.0 kernels=4.0 host=0.4", rows, endless),
        case("late record", late_record, "kernels=2.0 host=0.4", plain, endless),
        case("kernels beside each other", beside, "kernels=0.3 kernels=2.0 host=1.5", plain, endless),
        case("kernels that fill the device", beside, "kernels=0.3 kernels=2.0 host=1.5", full, one),
        case("prefetch", prefetch, "kernels=0.3 kernels=2.0 host=0.4 host=1.5", plain, endless),
        case("autograd", autograd, "kernels=0.5 host=0.5 host=1.5", plain, endless),
        case("nothing to wait for", lambda script: layers(script, 60, 4), "sync,host=0.5", plain, endless),
    ]  # fmt: skip
