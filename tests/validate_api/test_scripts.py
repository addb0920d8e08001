# SPDX-License-Identifier: Apache-2.0
"""scripts/run_benchmark.py and scripts/detect_regression.py as a workflow runs them. Needs no PyTorch."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from cases import in_ci

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
KEYS = {"samples_per_second", "performance_delta", "gpu_utilization", "memory_usage_gb", "regression_detected"}
# Prints a time like the one given: what is measured does not depend on this machine's speed.
TAKES = "import random, sys; print('took', float(sys.argv[1]) * (1 + random.gauss(0, 0.005)), 'ms')"


class Scripts(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.output = self.folder / "github_output"

    def script(self, name: str, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "GITHUB_OUTPUT": str(self.output)}
        environment.pop("PYTHONPATH", None)  # a checkout, nothing installed
        done = subprocess.run(
            [sys.executable, str(SCRIPTS / name), *words], env=environment, cwd=self.folder, capture_output=True, text=True,
            check=False, timeout=120,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def benchmark(self, ms: float, commit: str, *words: str) -> dict[str, Any]:
        self.script(
            "run_benchmark.py", "--commit-sha", commit, "--branch", "main", "--db", "sqlite:h.db", "--bench=--pattern=took ([0-9.]+)",
            "--bench=--runs=2", *words, "--", sys.executable, "-S", "-c", TAKES, str(ms),
        )  # fmt: skip
        found: dict[str, Any] = json.loads((self.folder / "benchmark_results.json").read_text())
        return found

    def history(self, metric: str, values: list[float]) -> None:
        """Runs of main that were before."""
        runs = [
            {
                "gapless_history": 1, "uid": f"{at:032x}", "commit_sha": f"c{at}", "branch": "main", "recorded_unix_ns": at,
                "metrics": [{"name": metric, "value": value}],
            }
            for at, value in enumerate(values)
        ]  # fmt: skip
        file = self.folder / "before.jsonl"
        file.write_text("".join(json.dumps(run) + "\n" for run in runs))
        words = [os.environ["GAPLESS_PROGRAM"], "history", "import", str(file), "--db=sqlite:h.db"]
        subprocess.run(words, check=True, cwd=self.folder, capture_output=True)

    def outputs(self) -> dict[str, str]:
        found = dict(line.split("=", 1) for line in self.output.read_text().splitlines())
        self.output.unlink()
        return found

    @in_ci
    def test_a_history_and_a_regression(self) -> None:
        first = self.benchmark(10, "first")
        self.assertLessEqual(KEYS, first.keys())
        self.assertEqual((first["performance_delta"], first["performance_delta_source"]), (0.0, "no baseline"))
        self.assertEqual((first["gpu_utilization_source"], first["memory_usage_source"]), ("cpu", "host"))
        self.assertTrue(0 < first["gpu_utilization"] <= 100 and 0 < first["memory_usage_gb"] < 1, first)
        self.assertEqual((first["verdict"], first["regression_detected"]), ("cannot_tell", False))
        self.assertIn("environment", first)
        noise = (0.01, -0.03, 0.02, -0.01, 0.03, -0.02, 0.0, 0.01, -0.01, 0.02, -0.02, 0.0)
        self.history("step_time_p50_ms", [10 + one for one in noise] * 7)  # enough for fresh runs to confirm an alarm
        slow = self.benchmark(13, "bad", "--no-record")
        self.assertTrue(slow["regression_detected"] and slow["confirmed"])
        self.assertAlmostEqual(slow["performance_delta"], -23, delta=5)
        self.assertEqual(slow["performance_delta_source"], "history")
        words = ("--results", "benchmark_results.json", "--db", "sqlite:h.db")
        self.assertIn("regression", self.script("detect_regression.py", *words).stdout)
        outputs = self.outputs()
        self.assertEqual(outputs["regression"], "true")
        self.assertAlmostEqual(float(outputs["performance_delta"]), slow["performance_delta"], places=1)
        self.script("detect_regression.py", *words, "--fail", status=1)
        self.benchmark(10, "good")
        listed = [os.environ["GAPLESS_PROGRAM"], "history", "list", "--db=sqlite:h.db", "--json"]
        runs = json.loads(subprocess.run(listed, check=True, cwd=self.folder, capture_output=True).stdout)["runs"]
        self.assertEqual({run["commit_sha"] for run in runs} - {f"c{at}" for at in range(84)}, {"first", "good"})
        self.output.unlink()
        self.script("detect_regression.py", *words, "--fail")
        self.assertEqual(self.outputs()["regression"], "false")

    def test_the_example(self) -> None:
        if importlib.util.find_spec("torch") is None:
            self.skipTest("no PyTorch in this Python")
        words = ["--bench=--steps=20", "--bench=--warmup=2", "--db", "sqlite:h.db", "--output", "r.json"]
        self.assertIn("r.json: cannot_tell", self.script("run_benchmark.py", *words).stdout)
        found = json.loads((self.folder / "r.json").read_text())
        self.assertGreater(found["samples_per_second"], 0)
        self.assertGreaterEqual(len(found["steps"]), 20)

    def test_plain_numbers(self) -> None:
        self.history("samples_per_second", [1000.0 + at % 3 for at in range(12)])
        numbers = {
            "samples_per_second": 700.0,
            "performance_delta": None,
            "regression_detected": False,
            "gpu_utilization": None,
        }
        (self.folder / "flat.json").write_text(json.dumps(numbers))
        self.script("detect_regression.py", "--results", "flat.json", "--db", "sqlite:h.db", "--threshold", "0.1")
        outputs = self.outputs()
        self.assertEqual((outputs["regression"], outputs["verdict"]), ("false", "cannot_tell"))

    def test_what_fails(self) -> None:
        self.script("detect_regression.py", "--results", "none.json", "--db", "sqlite:h.db", status=3)
        (self.folder / "torn.json").write_text('{"samples_per_second": 7')
        self.script("detect_regression.py", "--results", "torn.json", "--db", "sqlite:h.db", status=3)
        self.assertFalse(self.output.exists())
        done = self.script("run_benchmark.py", "--db", "sqlite:h.db", "--", sys.executable, "-c", "exit(7)", status=5)
        self.assertIn("run_benchmark:", done.stderr)
        self.assertFalse((self.folder / "benchmark_results.json").exists())


if __name__ == "__main__":
    unittest.main()
