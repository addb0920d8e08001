#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of results of other tools under `gapless compare`, `gate`, `history` and `trend`: failed runs, several series, histories.

usage: result_files_test.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"


class Files(unittest.TestCase):
    """Results of other tools, of which nothing is run again."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        self.database = f"sqlite:{self.work}/history.db"

    def gapless(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.work)}
        return subprocess.run(
            [str(PROGRAM), *words],
            cwd=self.work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def json(self, *words: str, status: int = 0) -> dict[str, Any]:
        done = self.gapless(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def write(self, name: str, document: Any) -> str:
        (self.work / name).write_text(json.dumps(document))
        return name

    def hyperfine(self, name: str, *commands: tuple[str, float, Sequence[int | None]]) -> str:
        draw = random.Random(name)
        results = []
        for command, seconds, codes in commands:
            times = [seconds * draw.gauss(1, 0.01) for _ in codes]
            results.append({"command": command, "mean": sum(times) / len(times), "times": times, "exit_codes": codes})
        return self.write(name, {"results": results})

    def pytest(self, name: str, **medians: float) -> str:
        benchmarks = [
            {"name": test, "fullname": f"tests/test_speed.py::{test}", "stats": {"median": median, "rounds": 60}}
            for test, median in medians.items()
        ]
        return self.write(name, {"machine_info": {"node": "n"}, "commit_info": {}, "benchmarks": benchmarks})

    def test_numbers_of_servers_have_the_formula_of_their_tool(self) -> None:
        plain = {"completed": 8, "duration": 2, "request_throughput": 4, "median_itl_ms": 5, "median_tpot_ms": 6}
        vllm = self.write("vllm.json", {**plain, "mean_e2el_ms": 80})
        faster = self.write("faster.json", {**plain, "mean_e2el_ms": 80, "median_tpot_ms": 5.5})
        sglang = self.write("sglang.json", {**plain, "mean_e2e_latency_ms": 80})
        said = self.gapless("compare", vllm, faster).stdout
        self.assertIn("median_tpot_ms (time_per_output_token) = (latency - time to first token) /", said)
        document = self.json("compare", vllm, sglang, "--json", status=1)
        names = [series["series"] for series in document["all_series"]]
        self.assertEqual(names, ["request_throughput", "median_tpot_ms"])
        self.assertIn("the tools compute it differently", " ".join(document["warnings"]))
        recorded = self.json("history", "record", vllm, "--db", self.database, "--json")
        formulas = {row["metric"]: row.get("own_name") for row in recorded["formulas"]}
        self.assertEqual(formulas["median_itl_ms"], "inter_token_latency")

    def test_a_side_that_failed_is_never_faster(self) -> None:
        fine = self.hyperfine("fine.json", ("train", 4, [0] * 10))
        for name, codes in (("all", [1] * 10), ("killed", [None] * 10), ("timed_out", [124] * 10)):
            bad = self.hyperfine(f"{name}.json", ("train", 0.3, codes))
            for files in ((fine, bad), (bad, fine)):
                done = self.gapless("compare", *files)
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn("10 of 10 runs of 'train' failed", done.stderr)
        some = self.hyperfine("some.json", ("train", 3, [0] * 9 + [1]))
        for files, side in (((fine, some), "b"), ((some, fine), "a")):
            found = self.json("compare", "--json", *files, status=1)
            self.assertEqual((found["verdict"], found["failed"][0]["side"]), ("cannot_tell", side))
            self.assertEqual((found["failed"][0]["failed"], found["failed"][0]["all"]), (1, 10))
            self.assertNotIn("faster", self.gapless("compare", *files).stdout)
            self.json("compare", "--json", "--strict", *files, status=5)
            self.json("compare", "--json", "--threshold", "50%", *files, status=1)

    def test_failed_requests(self) -> None:
        def server(name: str, completed: int, rate: float) -> str:
            run = {"num_prompts": 128, "completed": completed, "failed": 128 - completed, "duration": 3.0}
            return self.write(name, {**run, "request_throughput": rate, "median_ttft_ms": 500 / rate})

        before = server("before.json", 128, 10)
        found = self.json("compare", "--json", before, server("after.json", 38, 40), status=1)
        self.assertEqual(found["verdict"], "cannot_tell")
        self.assertEqual(
            [found["failed"][0][key] for key in ("side", "failed", "all", "what")], ["b", 90, 128, "request"]
        )
        self.assertEqual(self.gapless("gate", "after.json", "--db", "sqlite:h.db").returncode, 3)

    def test_two_commands_in_one_file(self) -> None:
        both = self.hyperfine("both.json", ("train", 4, [0] * 10), ("train --amp", 3, [0] * 10))
        found = self.json("compare", "--json", both)
        self.assertEqual((found["verdict"], found["series"], found["series_of_b"]), ("faster", "train", "train --amp"))
        self.assertAlmostEqual(found["speedup"]["expected"], 4 / 3, delta=0.03)
        bad = self.hyperfine("bad.json", ("train", 4, [0] * 10), ("train --amp", 0.3, [1] * 10))
        done = self.gapless("compare", bad)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("10 of 10 runs of 'train --amp' failed", done.stderr)
        self.assertEqual(self.gapless("compare", self.hyperfine("one.json", ("train", 4, [0] * 10))).returncode, 3)

    def test_several_benchmarks_are_all_shown(self) -> None:
        files = (self.pytest("1.json", test_forward=0.5, test_collate=2e-4),
                 self.pytest("2.json", test_forward=1.5, test_collate=2e-4))  # fmt: skip
        found = self.json("compare", "--json", *files, status=1)
        self.assertEqual((found["verdict"], len(found["all_series"])), ("cannot_tell", 2))
        self.assertAlmostEqual(found["all_series"][0]["slower_by"], 2, delta=1e-9)
        text = self.gapless("compare", *files).stdout
        for word in ("test_forward", "test_collate", "+200.0 %"):
            self.assertIn(word, text)
        limit = self.json("compare", "--json", "--threshold", "10%", *files, status=1)
        self.assertEqual(limit["beyond_threshold"], ["tests/test_speed.py::test_forward"])
        self.json("compare", "--json", "--threshold", "10%", "--series", "test_collate", *files)
        self.json("compare", "--json", "--threshold", "10%", "--strict", "--series", "test_collate", *files, status=5)

    def test_single_numbers_carry_no_verdict(self) -> None:
        def custom(name: str, ms: float) -> str:
            return self.write(name, [{"name": "step", "unit": "ms", "value": ms, "range": "± 1"}])

        found = self.json("compare", "--json", custom("a.json", 41.2), custom("b.json", 62.9), status=1)
        self.assertEqual(found["verdict"], "cannot_tell")
        self.assertAlmostEqual(found["all_series"][0]["slower_by"], 0.527, delta=0.001)

    def test_aggregates_of_google_benchmark(self) -> None:
        def aggregates(name: str, real: float, cpu: float) -> str:
            rows = [
                {"name": f"BM_Step_{kind}", "run_name": "BM_Step", "run_type": "aggregate", "aggregate_name": kind,
                 "real_time": real * share, "cpu_time": cpu * share, "time_unit": "ms"}
                for kind, share in (("mean", 1), ("median", 1), ("stddev", 0.01), ("cv", 0.001))
            ]  # fmt: skip
            return self.write(name, {"context": {}, "benchmarks": rows})

        files = aggregates("a.json", 12, 0.10), aggregates("b.json", 9, 0.14)
        found = self.json("compare", "--json", *files, status=1)
        self.assertEqual((found["verdict"], found["a"]["count"]), ("cannot_tell", 1))
        self.assertAlmostEqual(found["speedup"]["expected"], 12 / 9)

    def test_a_history_of_spikes_raises_no_alarm(self) -> None:
        """Every twelfth run lands on a machine that is half as slow again; the last run is one of them."""
        draw = random.Random(2)
        entries = [
            {
                "commit": {"id": f"{number:040x}"},
                "date": 1790000000000 + number,
                "tool": "customSmallerIsBetter",
                "benches": [
                    {"name": "step", "unit": "ms", "value": draw.gauss(41, 0.6) * (1.5 if number % 12 == 0 else 1)}
                ],
            }
            for number in range(25)
        ]
        page = {"lastUpdate": 1, "repoUrl": "x", "entries": {"Benchmark": entries}}
        (self.work / "data.js").write_text(f"window.BENCHMARK_DATA = {json.dumps(page)};\n")
        found = self.json("gate", "--json", "data.js", status=0)
        self.assertEqual((found["verdict"], found["alarm_pending"]), ("cannot_tell", True))
        self.assertNotIn("likely_culprit_commit", found)
        self.assertEqual(self.gapless("gate", "data.js", "--strict").returncode, 5)
        self.assertIn("no change of level", self.gapless("trend", "data.js").stdout)
        database = self.database
        self.assertEqual(self.json("history", "import", "--json", "data.js", "--db", database)["added"], 25)
        self.assertEqual(self.json("history", "import", "--json", "data.js", "--db", database)["present"], 25)
        self.assertIn("a history of 25 runs", self.gapless("history", "record", "data.js").stderr)

    def test_a_result_of_failed_runs_is_bad_input(self) -> None:
        runs = {"command": "python t.py", "mean": 0.3, "times": [4.0, 0.3, 4.1], "exit_codes": [0, 1, None]}
        (self.work / "failed.json").write_text(json.dumps({"results": [runs]}))
        for words in (("gate", "failed.json", "--naive"), ("history", "record", "failed.json")):
            done = self.gapless(*words, "--db", self.database)
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn("2 of 3 runs of 'python t.py' failed", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
