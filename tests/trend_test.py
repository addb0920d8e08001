#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless trend` on histories with a planted change: which commit is named, for the better or the worse, what is left out,
dates, the picture and the page.

usage: trend_test.py PROGRAM [TEST...]
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
LIMIT = 120  # seconds for one command
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
SVG = "{http://www.w3.org/2000/svg}"
BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)


def commit(number: int) -> str:
    return hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()


def day(number: int) -> str:
    return (BEGIN + timedelta(days=number)).strftime("%Y-%m-%d")


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.db = f"sqlite:{self.folder}/history.db"
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.folder), "COLUMNS": "80"}

    def gapless(self, *words: str, status: int = 0) -> str:
        done = subprocess.run(
            [str(PROGRAM), *words], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def trend(self, *words: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.gapless("trend", "--db", self.db, "--json", *words))
        return document

    def metric(self, name: str, *words: str) -> dict[str, Any]:
        (found,) = self.trend("--metric", name, *words)["metrics"]
        assert isinstance(found, dict)
        return found

    def keep(self, runs: Iterable[dict[str, Any]]) -> None:
        """Runs of a day each, in the form of `history export`; "metrics" as {name: value}."""
        lines = []
        for number, run in enumerate(runs):
            metrics = [{"name": name, "value": value} for name, value in run["metrics"].items()]
            at = int((BEGIN + timedelta(days=number)).timestamp()) * 10**9
            line = {"gapless_history": 1, "uid": f"{number:032x}", "recorded_unix_ns": at, "commit_sha": commit(number)}
            lines.append(json.dumps({**line, "branch": "main", **run, "metrics": metrics}))
        (self.folder / "runs.jsonl").write_text("\n".join(lines) + "\n")
        self.gapless("history", "import", "runs.jsonl", "--db", self.db)


class Planted(Case):
    """60 runs; from run 40 on samples_per_second falls by 8 %, utilisation rises, memory drifts."""

    def setUp(self) -> None:
        super().setUp()
        draw = random.Random(4)
        self.keep(
            {
                "metrics": {
                    "samples_per_second": (800 if n < 40 else 736) * (1 + draw.gauss(0, 0.01)),
                    "step_time_ms": (80 if n < 40 else 87) * (1 + draw.gauss(0, 0.01)),
                    "gpu_utilization": (70 if n < 40 else 84) + draw.gauss(0, 0.5),
                    "memory_usage_gb": 40 + 0.006 * n + draw.gauss(0, 0.01),
                    "loss": 3.0,
                }
            }
            for n in range(60)
        )

    def test_the_commit_is_named(self) -> None:
        (change,) = self.metric("samples_per_second")["changes"]
        self.assertEqual((change["index"], change["kind"]), (40, "regression"))
        self.assertEqual((change["commit_sha"], change["timestamp"][:10]), (commit(40), day(40)))
        self.assertAlmostEqual(change["relative_change"], -0.08, delta=0.01)
        self.assertTrue(change["first"] <= 40 <= change["last"])
        self.assertEqual(change["commits_after"], commit(change["first"] - 1))
        self.assertEqual(change["commits_up_to"], commit(change["last"]))
        self.assertFalse(change["within_one_commit"])

    def test_what_is_better_and_what_is_worse(self) -> None:
        found = {metric["metric"]: metric for metric in self.trend()["metrics"]}
        self.assertEqual(list(found), ["samples_per_second", "step_time_ms", "gpu_utilization", "memory_usage_gb"])
        kinds = {name: [change["kind"] for change in metric["changes"]] for name, metric in found.items()}
        self.assertEqual(
            kinds,
            {
                "samples_per_second": ["regression"],
                "step_time_ms": ["regression"],
                "gpu_utilization": ["improvement"],
                "memory_usage_gb": [],
            },
        )
        units = {name: (metric["unit"], metric["higher_is_better"]) for name, metric in found.items()}
        self.assertEqual(units["step_time_ms"], ("ms", False))
        self.assertEqual(units["samples_per_second"], ("1/s", True))
        drift = found["memory_usage_gb"]["drift"]
        self.assertEqual((drift["drifts"], drift["kind"]), (True, "regression"))
        self.assertAlmostEqual(drift["share"], 0.006 * 59 / 40, delta=0.002)
        self.assertFalse(found["step_time_ms"]["drift"]["drifts"])

    def test_a_range_of_dates_includes_both_ends(self) -> None:
        found = self.metric("step_time_ms", "--since", day(10), "--until", day(29))
        self.assertEqual((found["runs"], found["since"][:10], found["until"][:10]), (20, day(10), day(29)))
        self.assertEqual(found["changes"], [])
        self.assertEqual(self.metric("step_time_ms", "--since", f"{day(10)}T00:00:01Z")["runs"], 49)
        self.assertEqual(self.metric("step_time_ms", "--limit", "12")["runs"], 12)
        self.assertEqual(self.trend("--since", "2030-01-01")["metrics"], [])

    def test_text(self) -> None:
        text = self.gapless("trend", "--db", self.db)
        self.assertLessEqual(max(map(len, text.splitlines())), 80, text)
        self.assertIn(f"60 runs on main, {day(0)} to {day(59)}\n", text)
        self.assertRegex(
            text, rf"{day(40)} {commit(40)[:10]}  +-8\.\d %  .* 1/s  regression\n      git log \w+\.\.\w+\n"
        )
        self.assertRegex(text, r"drifts by \+0\.\d+ % over all 60 runs, for the worse")
        self.environment["LC_ALL"] = "C"
        self.assertTrue(self.gapless("trend", "--db", self.db).isascii())

    def test_the_picture_is_xml(self) -> None:
        self.gapless("trend", "--db", self.db, "--svg", "trend.svg")
        root = xml.etree.ElementTree.parse(self.folder / "trend.svg").getroot()
        self.assertEqual(root.tag, f"{SVG}svg")
        self.assertEqual(len(root.findall(f".//{SVG}circle")), 4 * 60)
        titles = [title.text or "" for title in root.iter(f"{SVG}title")]
        self.assertTrue(any("regression" in title and commit(40)[:10] in title for title in titles))
        self.assertEqual(self.gapless("trend", "--db", self.db, "--svg", "-")[:4], "<svg")

    def test_the_page_holds_the_data_and_nothing_from_elsewhere(self) -> None:
        self.gapless("trend", "--db", self.db, "--html", "trend.html")
        page = (self.folder / "trend.html").read_text()
        found = DATA.findall(page)
        self.assertEqual(len(found), 1)
        trend, shown = (json.loads(found[0])[key] for key in ("trend", "page"))
        self.assertEqual(trend, self.trend(), "the document of --json")
        self.assertEqual(trend["metrics"][0]["metric"], "samples_per_second")
        self.assertEqual(len(shown["runs"]), 1, "the metrics share their runs")
        self.assertEqual(shown["runs"][0]["commits"][40], commit(40)[:10])
        change = trend["metrics"][0]["changes"][0]
        self.assertEqual((change["index"], change["kind"]), (40, "regression"))
        self.assertIn("default-src 'none'", page)
        markup = page.split('<script type="text/plain" id="licences">')[0]
        self.assertEqual(re.findall(r"(?:src|href|action)=[\"']?https?:", markup), [])
        without = page[page.index("<noscript>") : page.index("</noscript>")]
        self.assertIn(f"{day(40)} {commit(40)[:10]}", without)
        self.assertIn("<svg", without)

    def test_any_metric(self) -> None:
        found = self.metric("loss")
        self.assertNotIn("higher_is_better", found)
        self.assertEqual((found["changes"], found["levels"]), ([], [{"begin": 0, "end": 60, "value": 3.0}]))
        self.assertEqual(self.metric("loss", "--lower-is-better")["higher_is_better"], False)
        self.assertEqual(self.metric("step_time_ms", "--higher-is-better")["higher_is_better"], False, "it is known")

    def test_what_fails(self) -> None:
        error = self.gapless("trend", "--db", self.db, "--metric", "step", status=3)
        self.assertIn("there are gpu_utilization, loss, memory_usage_gb", error)
        for words in (["--since", "soon"], ["--limit", "0"], ["--svg", "-", "--html", "-"], ["--svg", "-", "--json"]):
            self.gapless("trend", "--db", self.db, *words, status=2)
        self.gapless("trend", "--db", self.db, "--svg", "no/such/folder.svg", status=4)
        self.gapless("trend", "missing.csv", status=3)


class Mixed(Case):
    def test_one_benchmark_on_one_kind_of_machine(self) -> None:
        """Runs of three kinds take turns; together they would look like changes, or like noise."""
        kinds: list[tuple[str, str, float]] = [("bert", "H100", 10), ("resnet", "H100", 80), ("bert", "A100", 25)]
        runs = []
        for n in range(90):
            benchmark, gpu, ms = kinds[(n // 15 if n < 60 else n) % 3]
            facts = {"benchmark": benchmark, "gpu_type": f"NVIDIA {gpu}", "host": f"node{n % 2}"}
            runs.append({**facts, "metrics": {"step_time_ms": ms * (1 + 0.001 * (n * 7 % 5))}})
        self.keep(runs)
        newest = self.trend()
        self.assertEqual(newest["benchmark"], "bert")
        self.assertEqual((newest["runs"], newest["other_benchmarks"], newest["other_machines"]), (25, 25, 40))
        self.assertEqual(newest["metrics"][0]["changes"], [])
        resnet = self.trend("--label", "resnet")
        self.assertEqual((resnet["runs"], resnet["other_benchmarks"], resnet["other_machines"]), (25, 0, 0))
        self.assertEqual(resnet["metrics"][0]["changes"], [])
        self.assertEqual(self.trend("--limit", "7")["runs"], 7)
        text = self.gapless("trend", "--db", self.db)
        self.assertIn("25 runs of other benchmarks left out (--label): resnet\n", text)
        self.assertIn("40 runs on other kinds of machine than the newest left out\n", text)
        self.assertIn("the runs are of 2 hosts (--host takes one): node0, node1\n", text)
        trend = self.gapless("trend", "--db", self.db, "--host", "node1")
        self.assertNotIn("hosts", trend)

    def test_a_driver_that_changed_is_told(self) -> None:
        self.keep(
            {"commit_sha": commit(0), "driver": "550.54" if n < 25 else "560.28",
             "metrics": {"step_time_ms": (80 if n < 25 else 90) + 0.1 * (n * 7 % 5)}}
            for n in range(50)
        )  # fmt: skip
        (change,) = self.metric("step_time_ms")["changes"]
        self.assertEqual((change["within_one_commit"], change["also_changed"]), (True, ["driver 550.54 to 560.28"]))
        self.assertNotIn("commits_after", change)
        text = self.gapless("trend", "--db", self.db)
        self.assertIn("the commit is the same before and after\n      also changed: driver 550.54 to 560.28\n", text)

    def test_hostile_names(self) -> None:
        hostile = "</script><script>alert(1)</script>\x1b]0;x\x07\"'&"
        self.keep(
            {"commit_sha": f"{n}{hostile}", "benchmark": hostile, "driver": f"{n // 20}{hostile}",
             "metrics": {hostile: (80 if n < 20 else 90) + 0.1 * (n * 7 % 5)}}
            for n in range(40)
        )  # fmt: skip
        text = self.gapless("trend", "--db", self.db, "--svg", "t.svg", "--html", "t.html")
        self.assertNotIn("\x1b", text)
        self.assertNotIn("git log", text)
        xml.etree.ElementTree.parse(self.folder / "t.svg")
        page = (self.folder / "t.html").read_text()
        self.assertNotIn("<script>alert", page)
        self.assertEqual(json.loads(DATA.findall(page)[0])["trend"]["metrics"][0]["changes"][0]["index"], 20)


class Sizes(Case):
    def test_no_history(self) -> None:
        self.assertIn("there is no history", self.gapless("trend", "--db", self.db, status=3))
        (self.folder / "empty.jsonl").touch()
        self.gapless("history", "import", "empty.jsonl", "--db", self.db)
        for words in ([], ["--metric", "step_time_ms"], ["--html", "t.html"], ["--svg", "t.svg"]):
            self.assertIn("no runs in", self.gapless("trend", "--db", self.db, *words))
        self.assertEqual(self.trend()["metrics"], [])
        xml.etree.ElementTree.parse(self.folder / "t.svg")

    def test_one_run(self) -> None:
        self.gapless("history", "record", "--metric", "step_time_ms=80", "--db", self.db, "--branch", "main")
        text = self.gapless("trend", "--db", self.db, "--html", "t.html", "--svg", "t.svg")
        self.assertIn("1 run on main", text)
        self.assertIn("too few to find a change", text)
        self.assertEqual(self.metric("step_time_ms")["runs"], 1)

    def test_runs_of_the_same_time(self) -> None:
        rows = "".join(f"2026-03-01T00:00:00Z,{commit(n)},main,{80 + n % 3}\n" for n in range(30))
        (self.folder / "same.csv").write_text("timestamp,commit_sha,branch,step_time_ms\n" + rows)
        self.gapless("history", "import", "same.csv", "--db", self.db)
        self.gapless("trend", "--db", self.db, "--html", "t.html", "--svg", "t.svg")
        self.assertEqual(self.metric("step_time_ms", "--since", "2026-03-01", "--until", "2026-03-01")["runs"], 30)

    def test_twenty_thousand_runs(self) -> None:
        draw = random.Random(8)
        rows = ["timestamp,commit_sha,branch,samples_per_second,gpu_utilization,memory_usage_gb,step_time_ms"]
        for n in range(20_000):
            rate = (800 if n < 12_000 else 776) * (1 + draw.gauss(0, 0.01))
            at = (BEGIN + timedelta(minutes=20 * n)).strftime("%Y-%m-%dT%H:%M:%SZ")
            rows.append(f"{at},{commit(n)},main,{rate},{80 + draw.gauss(0, 1)},{40 + draw.gauss(0, 0.1)},{64e3 / rate}")
        (self.folder / "many.csv").write_text("\n".join(rows) + "\n")
        self.gapless("history", "import", "many.csv", "--db", self.db)
        self.gapless("trend", "--db", self.db, "--html", "t.html", "--svg", "t.svg")
        self.assertLess((self.folder / "t.svg").stat().st_size, 400_000)
        self.assertLess((self.folder / "t.html").stat().st_size, 4_000_000)
        (change,) = self.metric("samples_per_second")["changes"]
        self.assertTrue(change["first"] <= 12_000 <= change["last"])
        self.assertAlmostEqual(change["index"], 12_000, delta=5)


class Files(Case):
    def test_a_column_of_numbers(self) -> None:
        values = [100 + n % 3 + (20 if n >= 30 else 0) for n in range(60)]
        (self.folder / "values.csv").write_text("a,ms\n" + "".join(f"1,{value}\n" for value in values))
        document = json.loads(
            self.gapless("trend", "values.csv", "--column", "ms", "--lower-is-better", "--json", "--html", "t.html")
        )
        (metric,) = document["metrics"]
        self.assertEqual([(change["index"], change["kind"]) for change in metric["changes"]], [(30, "regression")])
        self.assertNotIn("timestamp", metric["changes"][0])
        self.assertNotIn("runs", document)
        self.assertEqual(
            json.loads(self.gapless("trend", "values.csv", "--metric", "a", "--json"))["metrics"][0]["last"], 1
        )
        self.gapless("trend", "values.csv", "--metric", "b", status=3)
        self.gapless("trend", "values.csv", "--label", "b", status=2)
        self.gapless("trend", "values.csv", "--svg", "values.csv", status=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
