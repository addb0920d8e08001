# SPDX-License-Identifier: Apache-2.0
"""Numbers that lie on a device, with a stand-in for it: nothing waits, and what is not ready is asked again later."""

from __future__ import annotations

import tempfile
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from cases import in_ci
from gapless_agent.calls import Calls
from gapless_agent.context import Context
from gapless_agent.device_time import DeviceTime
from gapless_agent.later import Later
from gapless_agent.memory import Memory
from gapless_agent.options import Options
from gapless_agent.recorder import Recorder
from gapless_agent.steps import Steps
from harness import layout, read_ring


class Event:
    """Done once the device's clock has passed it. Waiting for it would be an error of the agent."""

    def __init__(self, device: Device, enable_timing: bool = False) -> None:
        self.device, self.at = device, 0

    def record(self, stream: Any = None) -> None:
        self.at = self.device.queued_ns

    def query(self) -> bool:
        return self.device.done_ns >= self.at

    def elapsed_time(self, other: Event) -> float:
        assert self.query() and other.query()
        return (other.at - self.at) / 1e6


class Number:
    """A value that is no tensor of any of these tests."""


class Device:
    def __init__(self) -> None:
        self.queued_ns = self.done_ns = 0
        self.capturing = False
        self.profiled = False
        self.inside_own_stream = 0
        stats = {"allocated_bytes": {"all": {"peak": 300, "current": 200}}, "reserved_bytes": {"all": {"current": 400}}}
        cuda = SimpleNamespace(
            is_initialized=lambda: True,
            is_current_stream_capturing=lambda: self.capturing,
            current_device=lambda: 3,
            current_stream=lambda _: None,
            Event=lambda **how: Event(self, **how),
            Stream=lambda _: None,
            stream=lambda _: self,
            memory_stats_as_nested_dict=lambda _: stats,
            memory=SimpleNamespace(),
        )
        profiler = SimpleNamespace(_profiler_enabled=lambda: self.profiled)
        types = {name: name for name in ("float16", "bfloat16", "float32", "float64", "int32", "int64")}
        autograd = SimpleNamespace(_autograd=profiler)
        self.torch = SimpleNamespace(__version__="9.9", cuda=cuda, _C=autograd, Tensor=Number, **types)

    def __enter__(self) -> None:
        self.inside_own_stream += 1

    def __exit__(self, *_: object) -> None:
        self.inside_own_stream -= 1

    def number(self, value: float) -> Any:
        place = SimpleNamespace(type="cuda", index=3)

        def item() -> float:
            assert self.inside_own_stream, "reading on the current stream waits for all that is queued there"
            return value

        tensor = SimpleNamespace(device=place, item=item)
        tensor.detach = lambda: tensor
        return tensor


class Standing(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.device = Device()
        self.context = Context(self.device.torch, folder.name, Options())
        self.steps = Steps(self.context)
        self.folder = Path(folder.name)

    def records(self, kind: str) -> list[Any]:
        (path,) = self.folder.glob("*/agent-*.ring")
        return read_ring(path).of(kind)


@in_ci
class DeviceTest(Standing):
    def test_steps_on_the_device(self) -> None:
        times = DeviceTime(self.context, self.steps)
        self.steps.follow = times.at_step
        for step in range(12):
            self.device.queued_ns += 5_000_000 + step * 1000
            self.device.done_ns = self.device.queued_ns - 12_000_000  # the host is two to three steps ahead
            self.steps.fired(1)
        records = self.records("gpu_step")
        self.assertEqual([record.a for record in records], list(range(1, 1 + len(records))))
        self.assertEqual(len(records), 8)
        self.assertEqual([record.dur_ns for record in records], [5_000_000 + step * 1000 for step in range(1, 9)])
        self.assertEqual({record.value for record in records}, {3})
        begun = {record.a: record.ts_ns for record in self.records("step")}
        self.assertEqual([record.ts_ns for record in records], [begun[record.a] for record in records])

    def test_calls_on_the_device(self) -> None:
        """A call returns at once; what it queued takes 5 ms and more. The host is two calls ahead."""
        calls = Calls(self.context)

        def model(_self: Any) -> None:
            self.device.queued_ns += 5_000_000 + self.context.step * 1000
            self.device.done_ns = self.device.queued_ns - 12_000_000

        called = calls.around(model, lambda _: True)
        for step in range(8):
            self.context.step = step
            called(None)
        self.device.done_ns = self.device.queued_ns - 1  # the last one is never seen to end
        calls.flush()
        records = self.records("call")
        self.assertEqual([record.a for record in records], list(range(8)))
        self.assertEqual([round(record.x) for record in records[:7]], [5_000_000 + step * 1000 for step in range(7)])
        self.assertNotEqual(records[7].x, records[7].x)  # NaN
        self.assertEqual({record.b for record in records}, {-1})

    def test_no_event_inside_a_capture(self) -> None:
        times = DeviceTime(self.context, self.steps)
        self.steps.follow = times.at_step
        for step in range(6):
            self.device.capturing = step == 2
            self.device.queued_ns += 1000
            self.device.done_ns = self.device.queued_ns
            self.steps.fired(1)
        self.assertEqual([record.a for record in self.records("gpu_step")], [1, 4, 5])

    def test_a_loss_is_read_when_it_is_there(self) -> None:
        later = Later(self.context)
        known: list[float] = []
        for value in (1.5, 2.5, 3.5):
            self.device.queued_ns += 1000
            later.read(self.device.number(value), known.append)
        later.at_step(1)
        self.assertEqual(known, [])
        self.device.done_ns = 2000
        self.device.profiled = True
        later.at_step(2)
        self.assertEqual(known, [], "a reading while a profiler runs would be recorded as the program's")
        self.device.profiled = False
        for step in (3, 4, 5):
            later.at_step(step)
        self.assertEqual(known, [1.5, 2.5])

    def test_memory(self) -> None:
        memory = Memory(self.context)
        for step in range(1, 43):
            memory.at_step(step)
        records = self.records("memory")
        self.assertEqual([record.a for record in records], [0, 20, 40])
        self.assertEqual((records[0].b, records[0].x, records[0].y, records[0].value), (300, 200, 400, 3))
        self.assertEqual(memory.snapshot()[0], layout.ACK_NOT_APPLICABLE)


@in_ci
class RingTest(unittest.TestCase):
    def test_texts_and_wrapping_around(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            context = Context(SimpleNamespace(__version__="9.9", Tensor=object), folder, Options(ring_records=16))
            ring = context.open()
            assert ring is not None
            for step in range(100):
                ring.write(layout.KIND_STEP, 0, 0, 1, 2, step, -1, 0.5, float("nan"))
            text = "é" * 100 + "end"
            identity = ring.text(text)
            context.emit(layout.KIND_MESSAGE, a=identity)
            long = ring.text("x" * 20000)
            (path,) = Path(folder).glob("main/agent-*.ring")
            found = read_ring(path)
            self.assertEqual(
                found.written,
                4 + 100 + 5 + 1 + 342,
                "the ring begins with the names of the program and of its packages",
            )
            self.assertEqual(len(found.texts[long]), 16 * 48 - (48 - 16384 % 48))
            ring.write(layout.KIND_STEP, 0, 0, 1, 2, 7, -1, 0.5, 0.0)
            found = read_ring(path)
            self.assertEqual([record.a for record in found.records], [7])
            self.assertNotIn(identity, found.texts)

    def test_many_threads_write_every_record(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            context = Context(SimpleNamespace(__version__="9.9", Tensor=object), folder, Options(ring_records=1 << 14))
            context.open()

            def work() -> None:
                for _ in range(500):
                    context.message(layout.NOTE, "a text")

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            (path,) = Path(folder).glob("main/agent-*.ring")
            found = read_ring(path)
            notes = [record for record in found.records if record.kind != "process"]
            self.assertEqual(
                (len(notes), len(found.texts)),
                (2000, 2002),
                "the names of the program and of its packages are texts, too",
            )


@in_ci
class FailureTest(Standing):
    def test_an_error_closes_an_open_window(self) -> None:
        """A profiler that nobody stops would keep everything for ever."""
        calls: list[str] = []
        profiler = SimpleNamespace(start_trace=lambda: calls.append("start"), stop_trace=lambda: calls.append("stop"))
        recorder = Recorder(self.context)
        recorder.claim()
        recorder.profiler, recorder.keeps = profiler, True
        self.context.fail(ValueError("an error of the agent"))
        self.assertEqual(calls, ["stop"])
        self.assertFalse(self.context.on)
        (path,) = self.folder.glob("*/agent-*.ring")
        self.assertEqual(read_ring(path).state, layout.STATE_OFF)

    def test_an_error_leaves_the_window_of_another_thread_to_that(self) -> None:
        calls: list[int] = []
        profiler = SimpleNamespace(stop_trace=lambda: calls.append(threading.get_ident()))
        recorder, opened, failed = Recorder(self.context), threading.Event(), threading.Event()

        def work() -> None:
            recorder.claim()
            recorder.profiler, recorder.keeps = profiler, True
            opened.set()
            failed.wait()

        thread = threading.Thread(target=work)
        thread.start()
        opened.wait()
        self.context.fail(ValueError("an error of the agent"))
        self.assertEqual(calls, [])
        failed.set()
        owner = thread.ident
        thread.join()
        self.assertEqual(calls, [owner])

    def test_no_space_for_a_ring(self) -> None:
        with mock.patch("os.posix_fallocate", side_effect=OSError(28, "no space")):
            self.steps.fired(1)
        self.assertEqual((self.context.on, self.context.ring, self.context.step), (True, None, 1))
        self.assertEqual(list(self.folder.glob("*/agent-*.ring")), [])

    def test_history_of_both_kinds(self) -> None:
        given: list[Any] = []

        def old(enabled: bool, trace_alloc_max_entries: int = 1, trace_alloc_record_context: bool = False) -> None:
            given.append((enabled, trace_alloc_max_entries, trace_alloc_record_context))

        def new(enabled: str = "all", *args: Any, **kwargs: Any) -> None:
            given.append((enabled, args, kwargs))

        Memory._keep_history(old)
        Memory._keep_history(new)
        self.assertEqual(given, [(True, 100_000, True), ("all", (), {"max_entries": 100_000})])
