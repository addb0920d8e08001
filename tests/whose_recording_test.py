#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests whose recordings these are: pods without ranks, two files of one rank, jobs that were mixed up, folders of folders, files of other
programs, files that were cut before the GPU's part, and counters that nobody measured.

usage: whose_recording_test.py PROGRAM
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
DAY_NS = 86_400 * 10**9
NOW_NS = 1_718_000_000 * 10**9
STEPS, STEP_US = 6, 20_000
Json = dict[str, Any]


def slice_of(category: str, name: str, pid: int, ts: int, dur: int, **args: object) -> Json:
    tid = 7 if category == "kernel" else pid
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 0 if category == "kernel" else pid,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def recording(pid: int = 1, gemm_us: int = 12_000, exchange: bool = True, **around: Any) -> Json:
    """Six steps of 20 ms: a matrix product, then an all-reduce that ends at 18.96 ms, as on all ranks."""
    events = []
    for step in range(STEPS):
        start, correlation = 1_000_000 + step * STEP_US, 2 * step
        device = {"device": 0, "stream": 7, "grid": [216, 1, 1], "block": [256, 1, 1]}
        events.append(slice_of("user_annotation", f"ProfilerStep#{step}", pid, start, STEP_US - 1))
        for at, name, begin, end in [
            (10, "ampere_sgemm_128x64_tn", 40, 40 + gemm_us),
            (30, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 40 + gemm_us, 18_960),
        ][: 2 if exchange else 1]:
            correlation += 1
            events.append(slice_of("cuda_runtime", "cudaLaunchKernel", pid, start + at, 8, correlation=correlation))
            group = (
                {"Collective name": "allreduce", "In msg nelems": 4_000_000, "dtype": "Float"} if "nccl" in name else {}
            )
            events.append(
                slice_of("kernel", name, pid, start + begin, end - begin, correlation=correlation, **device, **group)
            )
    devices = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108, "computeMajor": 8, "computeMinor": 0}]
    return {"schemaVersion": 1, "deviceProperties": devices, **around, "traceEvents": events}


def distributed(rank: int, world_size: int) -> Json:
    return {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world_size}}


class WhoseRecording(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, content: Json | list[Any] | str) -> Path:
        path = self.folder / "log" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def gapless(self, *words: object, status: int = 0) -> str:
        environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "400",
        }
        done = subprocess.run(
            [PROGRAM, *map(str, words)], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def report(self, *words: object) -> Json:
        found: Json = json.loads(self.gapless("analyze", *(words or ["log"]), "--json"))
        return found

    def pods(self, named: str) -> None:
        """Four pods: the process is 1 in each, no rank is known, and pod 2 is late."""
        for pod in range(4):
            self.write(named.format(pod), recording(gemm_us=17_500 if pod == 2 else 12_000, baseTimeNanoseconds=NOW_NS))

    def check_pods(self, late: str) -> None:
        report = self.report()
        self.assertEqual(report["run"]["ranks"], [0, 1, 2, 3])
        self.assertEqual(len(report["breakdown"]), 4)
        self.assertEqual([note for note in report["warnings"] if "numbered by their names" in note], report["warnings"])
        self.assertIn(f"rank 2 is {late}", report["warnings"][0])
        straggler = next(found for found in report["bottlenecks"] if found["id"] == "straggler")
        self.assertRegex(straggler["title"], r"^rank 2( on trainer-2)? is late")
        self.assertTrue(any(late in item["text"] for item in straggler["evidence"]), straggler["evidence"])

    def test_pods_in_one_folder(self) -> None:
        self.pods("pod{}.json")
        self.check_pods("pod2.json")

    def test_pods_in_folders_of_their_own(self) -> None:
        self.pods("pod{}/trace.json")
        self.check_pods("pod2/trace.json")

    def test_pods_named_by_the_profiler(self) -> None:
        self.pods("trainer-{}_1.1718000100000.pt.trace.json")
        self.check_pods("trainer-2_1.1718000100000.pt.trace.json")

    def test_a_pod_by_its_rank(self) -> None:
        self.pods("pod{}.json")
        report = self.report("log", "--rank", "2")
        self.assertEqual([trace["path"] for trace in report["traces"]], ["log/pod2.json"])

    def test_programs_that_exchange_nothing(self) -> None:
        for name in "ab":
            self.write(f"{name}.json", recording(pid=ord(name), exchange=False, baseTimeNanoseconds=NOW_NS))
        self.assertIn("they may be jobs of their own", self.report()["warnings"][0])

    def test_cycles_of_one_process_are_not_ranks(self) -> None:
        for cycle in range(2):
            self.write(
                f"host_77.{1718000100000 + cycle}.pt.trace.json",
                recording(77, baseTimeNanoseconds=NOW_NS + cycle * 10**10),
            )
        report = self.report()
        self.assertEqual(report["run"]["ranks"], [])
        self.assertEqual(report["run"]["steps"], 2 * STEPS)

    def test_two_files_say_one_rank(self) -> None:
        for worker, pid in enumerate((977, 8123)):
            self.write(f"worker{worker}.json", recording(pid, 12_000 + 500 * worker, **distributed(0, 2)))
        report = self.report()
        clash = next(note for note in report["warnings"] if "rank 0" in note)
        for part in ("worker0.json", "worker1.json", "977", "8123", "RANK=FILE"):
            self.assertIn(part, clash)
        self.assertEqual(self.report("0=log/worker0.json", "1=log/worker1.json")["run"]["ranks"], [0, 1])

    def test_jobs_that_were_mixed_up(self) -> None:
        self.write("a.json", recording(103, baseTimeNanoseconds=NOW_NS, **distributed(3, 8)))
        self.write("b.json", recording(101, baseTimeNanoseconds=NOW_NS + 98 * DAY_NS, **distributed(1, 2)))
        report = self.report()
        self.assertEqual(report["run"]["ranks"], [3])
        said = " ".join(report["warnings"])
        for part in (
            "b.json is of another job (2 ranks, not 8; recorded 98 days later)",
            "the recordings of 7 are missing (0–2 and 4–7)",
        ):
            self.assertIn(part, said)
        self.assertIn("another job", self.gapless("query", "log", "SELECT count(*) FROM step"))

    def test_ranks_recorded_98_days_apart(self) -> None:
        for rank in range(2):
            self.write(
                f"{rank}.json",
                recording(7 + rank, baseTimeNanoseconds=NOW_NS + rank * 98 * DAY_NS, **distributed(rank, 2)),
            )
        said = " ".join(self.report()["warnings"])
        self.assertIn("98 days later", said)
        self.assertIn("the recording of one is missing (1)", said)

    def test_all_ranks_are_there(self) -> None:
        for rank in range(2):
            self.write(f"{rank}.json", recording(7 + rank, baseTimeNanoseconds=NOW_NS, **distributed(rank, 2)))
        self.assertEqual(self.report()["warnings"], [])

    def test_folders_of_folders(self) -> None:
        for rank in range(2):
            self.write(f"resnet/run1/worker{rank}/t.pt.trace.json", recording(7 + rank, **distributed(rank, 2)))
        self.assertEqual(self.report()["run"]["ranks"], [0, 1])

    def test_nested_events(self) -> None:
        plain, inner = recording(7), recording(7)
        self.write("plain.json", plain)
        path = self.write("nested.json", {"metadata": {"tool": "wrapper"}, "trace": inner, "more": [1]})
        answers = [self.report(path), self.report("log/plain.json")]
        for part in ("run", "breakdown", "warnings"):
            self.assertEqual(answers[0][part], answers[1][part])

    def test_files_of_other_programs(self) -> None:
        call = {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
        files: list[tuple[Json | list[Any], str]] = [
            ([], "no event"),
            ({"traceEvents": []}, "no event"),
            ({"traceEvents": [{**call, "cat": "Op"}]}, "TensorFlow timeline"),
            ({"traceEvents": [{**call, "args": {"BeginNs": "1"}}]}, "rocprof"),
            ({"traceEvents": [{**call, "cat": "toplevel"}], "metadata": {"chrome-bitness": 64}}, "Chromium"),
            ([{**call, "cat": "somebody's"}], "somebody's"),
        ]
        for content, what in files:
            said = self.gapless("analyze", self.write("x.json", content), status=3)
            self.assertIn(what, said)
            self.assertNotIn("ProfilerActivity", said)

    def test_recordings_of_tensorflow_and_rocprof(self) -> None:
        def named(name: str) -> Json:
            return {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": name}}

        call = {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
        files = [
            ("/device:GPU:0/stream:13 Compute", "Op", "GPU busy 100"),
            ("/job:localhost/replica:0/task:0/device:CPU:0 Compute", "Op", "tf.profiler"),
            ("/host:CPU", "", "jax.profiler"),
            ("0 CPU HIP API", "", "rocprof --hip-trace"),
        ]
        for name, category, what in files:
            event = {**call, "cat": category} if category else call
            said = self.gapless("analyze", self.write("x.json", {"traceEvents": [named(name), event]}))
            self.assertIn(what, said)
            self.assertNotIn("ProfilerActivity", said)

    def test_a_file_cut_before_the_gpu(self) -> None:
        whole = recording(7)
        python = [
            slice_of("python_function", "train.py(10): train", 7, 1_000_000 + step * STEP_US + at, 100)
            for step in range(STEPS)
            for at in range(100, 19_000, 150)
        ]
        host = [event for event in whole["traceEvents"] if event["cat"] != "kernel"]
        text = json.dumps({**whole, "traceEvents": host + python})
        report = self.report(self.write("cut.json", text[:-25]))
        self.assertEqual([found["id"] for found in report["bottlenecks"]], ["cut_recording"])
        self.assertIn("nothing is known of the GPU", report["bottlenecks"][0]["title"])
        said = self.gapless("analyze", "log/cut.json")
        self.assertNotIn("no GPU work", said)
        self.assertIn("the GPU's part is missing", said)

    def test_counters_that_nobody_measured(self) -> None:
        rows = "".join(f"GPU 0 0.000 0.000 0.000 0.000 {98 + i % 2} 39{i}.2\n" for i in range(5))
        path = self.write("dcgm.txt", "#Entity GRACT SMACT TENSO DRAMA GPUTL POWER\nID\n" + rows)
        report = self.report(path)
        self.assertNotEqual(report["run"].get("gpu_utilization"), 0)
        self.assertIn("were not measured", report["warnings"][0])
        said = self.gapless("analyze", path)
        self.assertIn("samples of 1 GPU", said)
        self.assertNotIn("ProfilerActivity", said)

    def test_an_answer_of_the_dcgm_exporter(self) -> None:
        text = '# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 97\n'
        self.assertIn("samples of 1 GPU · utilization 97.0 %", self.gapless("analyze", self.write("x.prom", text)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
