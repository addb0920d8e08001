# SPDX-License-Identifier: Apache-2.0
"""RegressionDetector: what is recorded, what is judged, what is refused. Needs no PyTorch."""

from __future__ import annotations

import datetime
import importlib.util
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import gapless
from gapless.metrics import PerformanceMetrics, plain, quantile
from gapless.program import ProgramError, ask, say


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "history.db"
        self.detector = gapless.RegressionDetector(self.path)

    def record(self, rates: list[float], branch: str = "main", gpu: str = "") -> None:
        rows = [f"2026-01-01T00:00:{at:02}Z,c{at},{branch},{rate},{gpu}" for at, rate in enumerate(rates)]
        content = "\n".join(["timestamp,commit_sha,branch,samples_per_second,gpu_type", *rows])
        file = self.path.with_suffix(".csv")
        file.write_text(content)
        say("history", "import", str(file), f"--db={self.detector.database}")


class Judged(Case):
    LEVEL = (1000.0, 1003.0, 998.0, 1001.0, 997.0, 1002.0, 1000.5, 999.0, 1001.5, 998.5, 1000.0, 1002.5)

    def slow_runs(self, runs: int, commit: str = "bad") -> None:
        for _ in range(runs):
            self.detector.record_benchmark(commit, "main", {"samples_per_second": 800.0})

    def test_one_slow_run_is_pending(self) -> None:
        self.record(list(self.LEVEL))
        found = self.detector.detect_regression({"samples_per_second": 800.0}, commit_sha="bad")
        self.assertEqual((found.verdict, found.regression_detected, found.alarm_pending), ("cannot_tell", False, True))
        self.assertIsNone(found.likely_culprit_commit)
        self.assertAlmostEqual(found.performance_delta or 0, -20, delta=1)

    def test_the_first_slow_run_is_the_culprit(self) -> None:
        """Ten good runs, five slow ones, and one more."""
        self.record(list(self.LEVEL[:10]))
        for number in range(5):
            self.detector.record_benchmark(f"bad{number}", "main", {"samples_per_second": 875.0 + number})
        found = self.detector.detect_regression({"samples_per_second": 876.0}, commit_sha="now")
        self.assertEqual((found.verdict, found.likely_culprit_commit), ("regression", "bad0"))

    def test_regression(self) -> None:
        self.record(list(self.LEVEL))
        self.slow_runs(5)
        found = self.detector.detect_regression({"samples_per_second": 801.0}, commit_sha="bad")
        self.assertIs(found.regression_detected, True)
        self.assertEqual((found.verdict, found.threshold, found.current_samples_per_sec), ("regression", 0.05, 801.0))
        self.assertAlmostEqual(found.baseline_samples_per_sec or 0, 1000, delta=3)
        self.assertAlmostEqual(found.performance_delta or 0, -20, delta=1)
        self.assertEqual(found.likely_culprit_commit, "bad")
        self.assertIn("bad", found.recommendation)
        self.assertEqual(found.to_dict()["regression_detected"], True)
        self.assertNotIn("answer", found.to_dict())
        self.assertEqual(found.answer["metrics"][0]["runs"], 12)

    def test_fine_and_faster(self) -> None:
        self.record(list(self.LEVEL))
        fine = self.detector.detect_regression(PerformanceMetrics(samples_per_second=1001.0))
        self.assertEqual((fine.verdict, fine.regression_detected), ("fine", False))
        faster = self.detector.detect_regression({"samples_per_second": 1300.0})
        self.assertEqual((faster.verdict, faster.alarm_pending), ("cannot_tell", False))

    def test_no_history_is_no_answer(self) -> None:
        found = self.detector.detect_regression({"samples_per_second": 800.0})
        self.assertEqual((found.verdict, found.regression_detected), ("cannot_tell", False))
        self.assertIsNone(found.baseline_samples_per_sec)
        self.assertIsNone(found.performance_delta)

    def test_other_branch_and_threshold(self) -> None:
        self.record(list(self.LEVEL), branch="release")
        self.assertEqual(self.detector.detect_regression({"samples_per_second": 800.0}).verdict, "cannot_tell")
        found = self.detector.detect_regression({"samples_per_second": 800.0}, "release", 0.5)
        self.assertEqual(found.threshold, 0.5)
        self.assertEqual(found.verdict, "fine")

    def test_other_gpus_are_no_baseline(self) -> None:
        self.record(list(self.LEVEL), gpu="A")
        slow = {"samples_per_second": 800.0}
        self.assertTrue(self.detector.detect_regression(slow, metadata={"gpu_type": "A"}).alarm_pending)
        self.assertFalse(self.detector.detect_regression(slow, metadata={"gpu_type": "B"}).alarm_pending)

    def test_judged_and_recorded(self) -> None:
        self.record(list(self.LEVEL))
        found = self.detector.judge_and_record("bad", "main", {"samples_per_second": 800.0})
        self.assertTrue(found.alarm_pending)
        runs = ask("history", "list", f"--db={self.detector.database}")["runs"]
        self.assertEqual(runs[-1]["commit_sha"], "bad")
        self.assertEqual(runs[-1]["verdicts"][0]["kind"], "pending")


class Recorded(Case):
    def test_columns(self) -> None:
        metrics = PerformanceMetrics(812.5, 93.0, 11.5, None, 78.8, step_times_ms=[78.0, 79.6])
        metadata = {
            "gpu_type": "H100",
            "num_gpus": 2,
            "batch_size": 64,
            "label": "resnet",
            "note": {"lr": [1]},
            "x": None,
        }
        answer = self.detector.record_benchmark("abc1234", "main", metrics, metadata)
        self.assertEqual(answer["commit_sha"], "abc1234")
        connection = sqlite3.connect(self.path)
        self.addCleanup(connection.close)
        columns = (
            "commit_sha, branch, samples_per_second, gpu_utilization, memory_usage_gb, step_time_ms, gpu_type, num_gpus"
        )
        row = connection.execute(f"SELECT {columns}, batch_size FROM benchmarks").fetchone()
        self.assertEqual(row, ("abc1234", "main", 812.5, 93.0, 11.5, 78.8, "H100", 2, 64))
        names = [name for (name,) in connection.execute("SELECT name FROM metric ORDER BY name")]
        self.assertNotIn("multi_gpu_scaling_efficiency", names)  # None is not 0
        benchmark, environment = connection.execute("SELECT benchmark, environment FROM run").fetchone()
        self.assertEqual(benchmark, "resnet")
        self.assertIn('"lr"', environment)
        (count,) = connection.execute("SELECT count FROM sample JOIN metric ON metric.ordinal = sample.metric "
                                      "WHERE metric.name = 'step_time'").fetchone()  # fmt: skip
        self.assertEqual(count, 2)

    def test_bad_metrics_are_refused(self) -> None:
        for bad in ({"a": math.nan}, {"a": math.inf}, {"a": "812"}, {"a": True}, {}, {"a": None}):
            with self.subTest(bad), self.assertRaises(ValueError):
                self.detector.record_benchmark("c", "main", bad)
        self.assertFalse(self.path.exists())

    def test_urls(self) -> None:
        self.assertEqual(gapless.RegressionDetector("sqlite:x.db").database, "sqlite:x.db")
        self.assertEqual(gapless.RegressionDetector("postgresql://u@h/d").database, "postgresql://u@h/d")
        self.assertEqual(gapless.RegressionDetector("folder/x.db").database, "sqlite:folder/x.db")

    def test_names_that_look_like_options(self) -> None:
        self.detector.record_benchmark("--help", "-x", {"samples_per_second": 1.0})
        runs = ask("history", "list", f"--db={self.detector.database}")["runs"]
        self.assertEqual((runs[0]["commit_sha"], runs[0]["branch"]), ("--help", "-x"))

    def test_what_cannot_be_opened(self) -> None:
        with self.assertRaises(ProgramError) as caught:
            gapless.RegressionDetector("/dev/null/x.db").record_benchmark("c", "main", {"samples_per_second": 1.0})
        self.assertIn(caught.exception.status, (3, 4))


class Reported(Case):
    def test_report(self) -> None:
        wobble = [0.0, 3.0, -2.0, 1.0, -3.0, 2.0, 0.5, -1.0, 1.5, -1.5]
        self.record([level + one for level in (1000.0, 800.0) for one in wobble])
        text = self.detector.generate_performance_report("2000-01-01", None)
        self.assertIn("samples_per_second: 20 runs", text)
        charts = re.search(r"(?m)^charts: (.*)$", text)
        assert charts is not None
        self.assertEqual(Path(charts.group(1)).with_suffix(""), self.path.parent / "performance_report")
        drawn = Path(charts.group(1)).read_bytes()
        self.assertTrue(drawn.startswith((b"<svg", b"\x89PNG")), drawn[:20])
        today = datetime.datetime(2026, 1, 1, 0, 30, tzinfo=datetime.timezone.utc)
        for since in (
            today.date(),
            today - datetime.timedelta(hours=1),
            (today - datetime.timedelta(hours=1)).replace(tzinfo=None),
        ):
            found = self.detector.generate_performance_report(since, today + datetime.timedelta(hours=1), as_dict=True)
            self.assertEqual(found["metrics"][0]["runs"], 20)
            self.assertEqual(len(found["metrics"][0]["changes"]), 1)
        before = self.detector.generate_performance_report("2000-01-01", datetime.date(2000, 2, 1), as_dict=True)
        self.assertEqual(before["metrics"], [])
        zone = datetime.timezone(datetime.timedelta(hours=14))
        later = (today + datetime.timedelta(hours=1)).astimezone(zone)
        self.assertEqual(self.detector.generate_performance_report(later, None, as_dict=True)["metrics"], [])
        with self.assertRaises(ProgramError) as caught:
            self.detector.generate_performance_report("yesterday", None)
        self.assertEqual(caught.exception.status, 2)

    def test_charts_without_matplotlib_and_without_runs(self) -> None:
        with mock.patch.dict(
            sys.modules, {"matplotlib": None, "matplotlib.figure": None, "matplotlib.backends.backend_agg": None}
        ):
            self.assertNotIn("charts:", self.detector.generate_performance_report())
            self.record([1000.0, 1001.0])
            place = self.path.parent / "new" / "picture"
            text = self.detector.generate_performance_report(charts=place)
        self.assertIn(f"charts: {place}.svg", text)
        self.assertIn("samples_per_second: 2 runs", place.with_suffix(".svg").read_text())

    def test_charts_with_matplotlib(self) -> None:
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no matplotlib in this Python")
        self.record([1000.0, 1001.0])
        text = self.detector.generate_performance_report(charts=self.path.parent / "picture")
        self.assertIn("picture.png", text)
        self.assertTrue((self.path.parent / "picture.png").read_bytes().startswith(b"\x89PNG"))


class Program(unittest.TestCase):
    def test_not_there(self) -> None:
        with mock.patch.dict(os.environ, {"GAPLESS_PROGRAM": "", "PATH": ""}), self.assertRaises(ProgramError):
            ask("formats")
        with mock.patch.dict(os.environ, {"GAPLESS_PROGRAM": "/nowhere/gapless"}), self.assertRaises(ProgramError):
            ask("formats")

    def test_status_1_is_an_error_unless_asked(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "gapless"
            program.write_text("#!/bin/sh\necho '{\"no\": true}'\nexit 1\n")
            program.chmod(0o755)
            with mock.patch.dict(os.environ, {"GAPLESS_PROGRAM": str(program)}):
                with self.assertRaises(ProgramError) as caught:
                    ask("gate")
                self.assertEqual(caught.exception.status, 1)
                self.assertEqual(ask("gate", accept=(0, 1)), {"no": True})

    def test_import_leaves_torch_alone(self) -> None:
        code = "import sys, gapless, gapless.scaling; sys.exit('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=False).returncode, 0)


class Numbers(unittest.TestCase):
    def test_of_steps(self) -> None:
        found = PerformanceMetrics.of_steps([1.0, 2.0, 3.0, 4.0], 40)
        self.assertEqual((found.step_time_ms, found.step_time_p50_ms), (2.5, 2.5))
        self.assertAlmostEqual(found.step_time_p95_ms or 0, 3.85)
        self.assertAlmostEqual(found.step_time_std_ms or 0, 1.2909944)
        self.assertAlmostEqual(found.samples_per_second or 0, 4000)

    def test_unknown_is_none(self) -> None:
        one = PerformanceMetrics.of_steps([2.0], None)
        self.assertEqual((one.samples_per_second, one.step_time_std_ms, one.step_time_ms), (None, None, 2.0))
        self.assertTrue(all(value is None for value in PerformanceMetrics().to_dict().values()))
        self.assertEqual(PerformanceMetrics.of_steps([], 0), PerformanceMetrics())

    def test_quantile_and_plain(self) -> None:
        self.assertEqual(quantile([5.0], 0.99), 5.0)
        self.assertEqual(plain({"a": (math.nan, 1), "b": PerformanceMetrics(1.0)})["a"], [None, 1])


if __name__ == "__main__":
    unittest.main()
