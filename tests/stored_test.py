#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless compare A B` on stored results of every tool that is read: verdicts, what values cannot show, exit statuses.

usage: stored_test.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
LIMIT = 120  # seconds for one command

Document = dict[str, Any]


def hyperfine(values: list[float]) -> Document:
    return {"results": [{"command": "sleep", "mean": values[0], "times": values}]}


def pyperf(values: list[float]) -> Document:
    runs = [{"metadata": {}, "values": [value, value * 1.001, value * 0.999]} for value in values]
    return {"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": [{"metadata": {"name": "b"}, "runs": runs}]}


def google_benchmark(values: list[float]) -> Document:
    runs = [
        {"name": "BM", "run_name": "BM", "run_type": "iteration", "iterations": 9, "real_time": value, "time_unit": "s"}
        for value in values
    ]
    return {"context": {"host_name": "node", "num_cpus": 2}, "benchmarks": runs}


def nvbench(values: list[float]) -> Document:
    summary = {
        "tag": "nv/cold/time/gpu/mean", "name": "GPU Time", "hint": "duration",
        "data": [{"name": "value", "type": "float64", "value": str(values[0])}],
    }  # fmt: skip
    state = {"name": "Device=0", "is_skipped": False, "summaries": [summary]}
    return {"meta": {"argv": []}, "devices": [], "benchmarks": [{"name": "copy", "states": [state]}]}


def pytest_benchmark(values: list[float]) -> Document:
    stats = {"median": values[0], "data": values, "rounds": len(values), "iterations": 1}
    benchmarks = [{"name": "t", "fullname": "t.py::t", "stats": stats}]
    return {"machine_info": {"node": "n"}, "version": "4", "datetime": "2026-01-02T03:04:05", "benchmarks": benchmarks}


def asv(values: list[float]) -> Document:
    columns = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "samples"]
    row = [[values[0]], [], "v", 1, 2.0, [None], [None], [values]]
    return {
        "version": 2,
        "commit_hash": "d",
        "params": {"machine": "n"},
        "result_columns": columns,
        "results": {"t": row},
    }


def gapless(values: list[float]) -> Document:
    """`gapless bench --runs N`: the processes differ, the steps of each hardly do."""
    steps = [round(value * 1e9) + step for value in values for step in range(100)]
    return {
        "gapless": {"version": "0.1.0", "schema": 1}, "command": "train", "source": "steps", "processes": len(values),
        "metrics": {"step_time_ms": values[0] * 1e3}, "steps": steps, "process_medians": [value * 1e3 for value in values],
    }  # fmt: skip


PROCESSES: list[Callable[[list[float]], Document]] = [hyperfine, pyperf, gapless]
ITERATIONS: list[Callable[[list[float]], Document]] = [google_benchmark, pytest_benchmark, asv]


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.draw = random.Random(2)

    def around(self, level: float, count: int = 12, noise: float = 0.01) -> list[float]:
        return [level * (1 + self.draw.gauss(0, noise)) for _ in range(count)]

    def run_it(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.folder)}
        return subprocess.run(
            [str(PROGRAM), "compare", *words], cwd=self.folder, env=environment, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip

    def write(self, a: Document | str, b: Document | str) -> None:
        for name, content in (("a", a), ("b", b)):
            (self.folder / name).write_text(content if isinstance(content, str) else json.dumps(content))

    def compare(self, a: Document | str, b: Document | str, *options: str) -> Document:
        self.write(a, b)
        done = self.run_it("a", "b", "--json", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document: Document = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if document["verdict"] == "faster" else 1)
        return document

    def refusal(self, a: Document | str, b: Document | str, *options: str, status: int = 3) -> str:
        self.write(a, b)
        done = self.run_it("a", "b", *options)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        return done.stderr


class Verdicts(Case):
    def test_processes(self) -> None:
        for tool in PROCESSES:
            with self.subTest(tool.__name__):
                faster = self.compare(tool(self.around(1.0)), tool(self.around(0.8, 20)))
                self.assertEqual((faster["verdict"], faster["values_are"]), ("faster", "process"))
                self.assertTrue(faster["speedup"]["low"] < 1.25 < faster["speedup"]["high"])
                self.assertTrue(faster["statistically_significant"])
                self.assertEqual((faster["a"]["count"], faster["b"]["count"]), (12, 20))
                self.assertEqual(self.compare(tool(self.around(0.8)), tool(self.around(1.0)))["verdict"], "slower")
                even = [1 + 0.0005 * (n * 7 % 40 - 20) for n in range(40)]
                same = self.compare(tool(even), tool([value + 0.0001 for value in even]), "--margin", "3%")
                self.assertEqual(same["verdict"], "equivalent")
                noisy = self.compare(tool(self.around(1.0, 6, 0.1)), tool(self.around(1.01, 6, 0.1)))
                self.assertEqual(noisy["verdict"], "cannot_tell")
                self.assertGreater(noisy["mde_share"], 0.05)

    def test_iterations_of_one_process_carry_no_verdict(self) -> None:
        for tool in ITERATIONS:
            with self.subTest(tool.__name__):
                found = self.compare(tool(self.around(1.0, 200)), tool(self.around(0.5, 200)))
                self.assertEqual((found["verdict"], found["values_are"]), ("cannot_tell", "iteration"))
                self.assertAlmostEqual(found["speedup"]["expected"], 2, delta=0.05)
                self.assertNotIn("low", found["speedup"])
                self.assertNotIn("p_mann_whitney", found)
                said = self.compare(tool(self.around(1.0)), tool(self.around(0.5)), "--values", "process")
                self.assertEqual(said["verdict"], "faster")

    def test_the_steps_of_one_process_of_each(self) -> None:
        answer = self.compare(gapless(self.around(1.0, 1)), gapless(self.around(0.5, 1)))
        found = (answer["verdict"], answer["values_are"], answer["a"]["count"])
        self.assertEqual(found, ("cannot_tell", "iteration", 100))
        process = gapless([1.0])
        process["steps"] = [10**9]  # a command without steps, run once
        alone = self.compare(process, process)
        self.assertEqual((alone["verdict"], alone["series"], alone["a"]["count"]), ("cannot_tell", "step_time", 1))
        mixed = self.compare(gapless(self.around(1.0, 1)), gapless(self.around(0.5, 9)))
        self.assertEqual((mixed["verdict"], mixed["values_are"]), ("cannot_tell", "unknown"))

    def test_a_mean_alone(self) -> None:
        found = self.compare(nvbench([2.0]), nvbench([1.0]))
        self.assertEqual((found["verdict"], found["values_are"], found["a"]["count"]), ("cannot_tell", "unknown", 1))
        self.assertEqual(found["speedup"], {"expected": 2})
        self.assertNotIn("mde_share", found)

    def test_tools_may_differ(self) -> None:
        self.assertEqual(self.compare(hyperfine(self.around(1.0)), pyperf(self.around(0.8)))["verdict"], "faster")

    def test_plain_numbers(self) -> None:
        a, b = ("\n".join(map(str, self.around(level))) for level in (100, 130))
        self.assertEqual(self.compare(a, b)["verdict"], "cannot_tell")
        self.assertEqual(self.compare(a, b, "--values", "process")["verdict"], "slower")
        better = self.compare(a, b, "--values", "process", "--higher-is-better")
        self.assertEqual(better["verdict"], "faster")
        table = "x,y\n" + "\n".join(f"1,{value}" for value in self.around(5))
        self.assertEqual(self.compare(table, table, "--column", "y")["series"], "y")

    def test_text(self) -> None:
        self.write(hyperfine(self.around(1.0)), hyperfine(self.around(0.8)))
        text = self.run_it("a", "b").stdout
        self.assertRegex(text, r"^B is faster: speedup 1\.2\d+×, 95 % interval 1\.\d+× to 1\.\d+×\n")
        self.assertIn("if the numbers of runs were fixed beforehand", text.replace("\n", " "))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)


class Series(Case):
    def both(self, level: float) -> Document:
        document = google_benchmark(self.around(level))
        others = google_benchmark(self.around(2 * level))["benchmarks"]
        document["benchmarks"] += [{**run, "name": "BM2", "run_name": "BM2"} for run in others]
        return document

    def test_of_several_all_are_shown_or_one_is_named(self) -> None:
        found = self.compare(self.both(1.0), self.both(0.5))
        self.assertEqual([series["series"] for series in found["all_series"]], ["BM", "BM2"])
        self.assertEqual(self.compare(self.both(1.0), self.both(0.5), "--series", "BM2")["series"], "BM2")
        self.assertIn("there are BM, BM2", self.refusal(self.both(1.0), self.both(0.5), "--series", "BM3"))

    def test_what_cannot_be_compared(self) -> None:
        negative = self.refusal(hyperfine([1.0, -1.0, 2.0]), hyperfine([1.0, 2.0]))
        self.assertIn("a value is not above zero", negative)
        unit = self.refusal("1\n2\n3\n", hyperfine([1.0, 2.0]))
        self.assertIn("the units differ: none and s", unit)
        self.refusal("{", hyperfine([1.0]))
        self.refusal("", hyperfine([1.0]))
        self.assertIn("no series in common", self.refusal(self.both(1.0), gapless([1.0, 2.0])))

    def test_usage(self) -> None:
        self.write("1\n2\n", "1\n2\n")
        for words in (["a", "b", "--", "true"], ["a", "b", "--margin", "2"], ["a", "b", "--values", "steps"]):
            self.assertEqual(self.run_it(*words).returncode, 2, words)
        self.assertEqual(self.run_it("a", "missing").returncode, 3)
        self.assertEqual(self.run_it("a").returncode, 3, "one result has nothing to be compared with")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
