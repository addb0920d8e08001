#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless predict` on programs whose truth is known: a simulator, held against cases worked out by hand, then random programs.

usage: simulator_test.py PROGRAM [--schedules N] [--keep FOLDER] [--show N] [TEST...]

--keep leaves the recordings in FOLDER; --show prints what is said of schedule N, and what is true.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus import ROOT
from simulator.cases import OPEN, cases
from simulator.changes import changed
from simulator.judge import Answer, Outcome, Summary, asked, judge, judge_all, predict, quantile, record
from simulator.kineto import Recorder, written
from simulator.machine import AUTOGRAD, Call, DeviceSlice, Run, Slice, simulate
from simulator.program import (
    Action,
    Await,
    Backward,
    Close,
    Copy,
    Launch,
    Machine,
    Open,
    Program,
    Record,
    Synchronize,
    Work,
)
from simulator.schedules import KINDS, schedule

PROGRAM = ROOT / "build/gapless"
SCHEDULES = 500
KEEP: Path | None = None


def launch(name: str, device_ns: int, stream: int = 7) -> Launch:
    """10 ns before the device is asked, 5 after; seen 20 later; 3 after what the stream did before."""
    return Launch(name, stream, device_ns, 10, 5, 20, 3)


def copy(*, to_device: bool, pinned: bool, device_ns: int = 100, stream: int = 7, staged_ns: int = 0) -> Copy:
    return Copy(to_device, pinned, 1 << 20, stream, device_ns, 10, 5, 20, 3, not pinned, staged_ns)


def run(*actions: Action, machine: Machine | None = None) -> Run:
    return simulate(Program(machine or Machine(), (actions,)))


def device(run: Run) -> dict[str, tuple[int, int]]:
    return {work.name: (work.start_ns, work.end_ns) for work in run.device}


def calls(run: Run) -> list[tuple[int, int]]:
    """Without the one that the profiler makes when it stops."""
    return [(call.start_ns, call.end_ns) for call in run.calls[:-1]]


def launches(run: Run) -> list[Call]:
    return [call for call in run.calls if call.name == "cudaLaunchKernel"]


def total(slices: Sequence[Slice | Call | DeviceSlice]) -> int:
    return sum(span.end_ns - span.start_ns for span in slices)


class Simulator(unittest.TestCase):
    def test_a_kernel_starts_when_the_device_has_seen_it(self) -> None:
        seen = run(Work(1000), launch("a", 100))
        self.assertEqual(calls(seen), [(1000, 1015)])
        self.assertEqual(device(seen), {"a": (1030, 1130)})
        self.assertEqual(seen.steps, [(0, 1015)])
        self.assertEqual(seen.step_ns(), 1130)

    def test_a_stream_is_first_in_first_out(self) -> None:
        seen = run(launch("a", 100), launch("b", 50))
        self.assertEqual(device(seen), {"a": (30, 130), "b": (133, 183)})

    def test_a_stream_that_waits_for_the_host(self) -> None:
        seen = run(launch("a", 100), Work(1000), launch("b", 50))
        self.assertEqual(device(seen)["b"], (1045, 1095))

    def test_a_full_queue_blocks_the_call(self) -> None:
        seen = run(launch("a", 100), launch("b", 50), launch("c", 50), machine=Machine(queue_depth=2))
        # The third call would end at 45. a ends at 130: then it goes on.
        self.assertEqual(calls(seen), [(0, 15), (15, 30), (30, 135)])
        self.assertEqual(device(seen)["c"], (186, 236))

    def test_streams_run_side_by_side(self) -> None:
        actions = (launch("a", 100), launch("b", 100, stream=8), launch("c", 100))
        self.assertEqual(device(run(*actions)), {"a": (30, 130), "b": (45, 145), "c": (133, 233)})

    def test_streams_take_turns_where_one_kernel_fills_the_device(self) -> None:
        actions = (launch("a", 100), launch("b", 100, stream=8), launch("c", 100))
        seen = run(*actions, machine=Machine(kernels_at_once=1))
        self.assertEqual(device(seen), {"a": (30, 130), "b": (130, 230), "c": (230, 330)})

    def test_a_stream_waits_for_an_event(self) -> None:
        actions = (launch("a", 100), Record(1, 7, 1, 1), launch("b", 100), launch("c", 10, stream=8), Await(1, 8, 1, 1),
                   launch("d", 10, stream=8))  # fmt: skip
        seen = device(run(*actions))
        self.assertEqual(seen["c"], (62, 72))  # queued before the wait
        self.assertEqual(seen["d"], (133, 143))  # after a, beside b

    def test_a_wait_is_for_the_latest_record(self) -> None:
        again = (Record(1, 7, 1, 1), launch("a", 100), Record(1, 7, 1, 1), Await(1, 8, 1, 1), launch("b", 1, stream=8))
        self.assertEqual(device(run(*again))["b"][0], 135)
        never = (launch("a", 100), Await(1, 8, 1, 1), launch("b", 1, stream=8))
        self.assertEqual(device(run(*never))["b"][0], 47)

    def test_synchronisations(self) -> None:
        actions = (launch("a", 100), Record(1, 7, 0, 0), launch("b", 100), launch("c", 1000, stream=8))
        expected = {("device", 0): 1062, ("stream", 7): 235, ("stream", 9): 49, ("event", 1): 132, ("event", 5): 49}
        for (scope, which), end in expected.items():
            with self.subTest(scope=scope, which=which):
                self.assertEqual(calls(run(*actions, Synchronize(scope, which, 2, 2)))[-1], (45, end))

    def test_copies_to_the_host(self) -> None:
        blocked = run(launch("a", 1000), copy(to_device=False, pinned=False))
        self.assertEqual(device(blocked)["Memcpy DtoH (Device -> Pageable)"], (1033, 1133))
        self.assertEqual(calls(blocked)[1], (15, 1138))
        self.assertEqual(calls(run(launch("a", 1000), copy(to_device=False, pinned=True)))[1], (15, 30))

    def test_copies_to_the_device(self) -> None:
        staged = run(launch("a", 1000), copy(to_device=True, pinned=False, staged_ns=90))
        self.assertEqual(device(staged)["Memcpy HtoD (Pageable -> Device)"], (1033, 1133))
        self.assertEqual(calls(staged)[1], (15, 1128))
        self.assertEqual(calls(run(launch("a", 1000), copy(to_device=True, pinned=True)))[1], (15, 30))

    def test_copies_have_an_engine_for_each_direction(self) -> None:
        seen = run(copy(to_device=True, pinned=True), copy(to_device=True, pinned=True, stream=8),
                   copy(to_device=False, pinned=True, stream=9), launch("a", 100, stream=10))  # fmt: skip
        starts = {work.stream: work.start_ns for work in seen.device}
        self.assertEqual(starts, {7: 30, 8: 130, 9: 60, 10: 75})

    def test_backward(self) -> None:
        seen = run(Backward((Open("b"), Work(50), launch("a", 10), Close()), 7, 8), Work(100))
        self.assertEqual([(span.thread, span.start_ns, span.end_ns) for span in seen.slices], [(1, 7, 72)])
        self.assertEqual(seen.steps, [(0, 180)])

    def test_steps_before_the_recording(self) -> None:
        """The device is busy with the first step until 2030, the host is through with it at 15."""
        actions = (launch("a", 2000),)
        seen = simulate(Program(Machine(), (actions, actions, actions), warmup=1))
        self.assertEqual(seen.steps, [(15, 30), (30, 45)])
        spans = [(work.start_ns, work.end_ns) for work in seen.device]
        self.assertEqual(spans, [(30, 2030), (2033, 4033), (4036, 6036)])
        self.assertEqual(len(launches(seen)), 2)  # the first kernel is there without its call
        self.assertEqual(seen.step_ns(), (6036 - 2030) / 2)

    def test_changes(self) -> None:
        actions = (Work(100), launch("gemm", 100), launch("add", 200), Synchronize("device", 0, 2, 2))
        program = Program(Machine(), (actions,))
        # Kernels: 130 to 230, 233 to 433; the host goes on at 435.
        for what, end in (
            ("kernels=2", 130 + 200 + 3 + 400 + 2), ("kernels:ge.m=2", 130 + 200 + 3 + 200 + 2), ("host=2", 240 + 100 + 3 + 200 + 4),
            ("sync", 433), ("host=0.5,kernels=0.5", 75 + 50 + 3 + 100 + 1),
        ):  # fmt: skip
            with self.subTest(what=what):
                self.assertEqual(simulate(changed(program, what)).step_ns(), end)

    def test_sync_leaves_the_copies(self) -> None:
        actions = (launch("a", 1000), copy(to_device=False, pinned=False), Work(1))
        self.assertEqual(calls(simulate(changed(Program(Machine(), (actions,)), "sync")))[1], (15, 30))


class Recordings(unittest.TestCase):
    def document(self, run: Run, recorder: Recorder) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = json.loads(written(run, recorder, 1))["traceEvents"]
        return events

    def test_as_a_profiler_writes_them(self) -> None:
        seen = run(Open("aten::add"), launch("k", 1234), Close(), Synchronize("stream", 7, 2, 2))
        new = self.document(seen, Recorder())
        self.assertEqual(
            [(event["cat"], event["name"]) for event in new if event["ph"] == "X"],
            [("user_annotation", "ProfilerStep#1"), ("cpu_op", "aten::add"), ("cuda_runtime", "cudaLaunchKernel"),
             ("cuda_runtime", "cudaStreamSynchronize"), ("cuda_runtime", "cudaDeviceSynchronize"), ("kernel", "k")],
        )  # fmt: skip
        kernel = next(event for event in new if event.get("cat") == "kernel")
        self.assertEqual((kernel["ts"], kernel["dur"]), (5_000_000.03, 1.234))
        old = self.document(seen, Recorder(sync_events=True, whole_microseconds=True))
        self.assertTrue(all(isinstance(event["ts"], int) for event in old))
        syncs = [event["name"] for event in old if event.get("cat") == "cuda_sync"]
        self.assertEqual(syncs, ["Stream Sync", "Context Sync"])

    def test_kinds_are_what_they_are_called(self) -> None:
        for number in range(4 * len(KINDS)):
            case = schedule(number)
            seen = simulate(case.program)
            endless = simulate(case.program._replace(machine=Machine(1 << 40)))
            total_ns = seen.step_ns() * len(seen.steps)
            busy = total([work for work in seen.device if work.engine == "kernel"]) / total_ns
            loading = total([mark for mark in seen.slices if mark.name.startswith("enumerate")]) / total_ns
            waits = sum(call.name.endswith("Synchronize") for call in seen.calls) / len(seen.steps)
            is_so = {
                "gpu bound": busy > 0.6, "launch bound": busy < 0.5, "loader bound": loading > 0.2, "many syncs": waits >= 2,
                "streams": len({work.stream for work in seen.device}) > 1, "mixed": True,
                "queue full": total(launches(seen)) > 1.5 * total(launches(endless)),
                "autograd thread": any(operator.thread == AUTOGRAD for operator in seen.slices),
            }  # fmt: skip
            self.assertTrue(is_so[case.kind], (number, case.kind, busy, loading, waits))

    def test_of_schedules_are_possible(self) -> None:
        for number in range(2 * len(KINDS)):
            case = schedule(number)
            self.assertEqual(case, schedule(number))
            self.assertIn(len(case.changes), (4, 5, 6))
            seen = simulate(case.program)
            called = {call.correlation: call for call in seen.calls}
            self.assertEqual(len(called), len(seen.calls))
            ends: dict[int, int] = {}
            for work in sorted(seen.device, key=lambda work: work.start_ns):
                if case.program.warmup == 0 or work.correlation in called:
                    self.assertGreater(work.start_ns, called[work.correlation].start_ns)
                self.assertGreaterEqual(work.start_ns, ends.get(work.stream, 0))
                ends[work.stream] = work.end_ns
            self.document(seen, case.recorder)


class Cases(unittest.TestCase):
    def test_each_thing_on_its_own(self) -> None:
        for case in cases():
            with tempfile.TemporaryDirectory() as folder, self.subTest(case.kind):
                outcome = asked(case, predict(PROGRAM, record(case, Path(folder)), case.changes))
                right = not outcome.refused and all((answer.error or 0) < 0.05 for answer in outcome.answers)
                right &= (
                    all(answer.predicted is not None for answer in outcome.answers)
                    and abs(outcome.step_share - 1) < 0.05
                )
                if case.kind in OPEN:
                    print(f"{'right now' if right else 'open'}: {OPEN[case.kind]}\n{outcome.text()}")
                else:
                    self.assertTrue(right, outcome.text())


def problems(summary: Summary) -> list[str]:
    """Returns what keeps the predictions from being as good as they have to be."""
    everything = [error for error, _, _ in summary.errors]
    limits = {
        "share refused": (summary.refused_share, 0.10),
        "median error": (statistics.median(everything or [1.0]), 0.02),
        "median error of changes that matter": (statistics.median(summary.telling or [1.0]), 0.02),
        "90th percentile of the errors of changes that matter": (quantile(summary.telling, 0.9), 0.05),
        "share of wrong changes ranked first": (1 - summary.best_share, 0.10),
    }
    return [f"{name} {100 * is_so:.2f} %" for name, (is_so, limit) in limits.items() if is_so > limit]


class Predictions(unittest.TestCase):
    """Tests the program's predictions for schedules by the median of their errors: one that is wrong does not fail this."""

    def test_random_schedules(self) -> None:
        summary = Summary(tuple(judge_all(PROGRAM, range(SCHEDULES), KEEP)))
        print(summary.text())
        self.assertEqual(problems(summary), [])
        # A prediction that is 10 % off would be noticed.
        for factor in (0.9, 1.1):
            right = [answer for _, _, answer in summary.errors]
            wrong = tuple(Answer(answer.what, factor * (answer.predicted or 0), answer.true) for answer in right)
            self.assertTrue(problems(Summary((Outcome(0, "", "", 1, wrong),))))

    def test_another_question_has_another_answer(self) -> None:
        """The truth of a factor, held against the prediction for one that is 10 % larger."""
        with tempfile.TemporaryDirectory() as folder:
            errors = []
            for number in range(0, 8 * len(KINDS), len(KINDS)):  # all "gpu bound"
                case = schedule(number)
                said = predict(PROGRAM, record(case, Path(folder)), ["kernels=0.5", "kernels=0.55"])
                true = simulate(changed(case.program, "kernels=0.5")).step_ns() / simulate(case.program).step_ns()
                right, wrong = (found["step_ns"]["expected"] / said["step_ns"] for found in said["predictions"])
                errors.append((abs(right / true - 1), abs(wrong / true - 1)))
        self.assertLess(sorted(right for right, _ in errors)[len(errors) // 2], 0.02)
        self.assertGreater(sorted(wrong for _, wrong in errors)[len(errors) // 2], 0.02)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", type=Path, default=PROGRAM)
    parser.add_argument("--schedules", type=int, default=SCHEDULES)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--show", type=int)
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    if given.show is not None:
        print(judge(given.program, given.show, given.keep).text())
        sys.exit()
    PROGRAM, SCHEDULES, KEEP = given.program.resolve(), given.schedules, given.keep
    unittest.main(argv=[sys.argv[0], *given.tests])
