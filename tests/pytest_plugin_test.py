#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plug-in of pytest: a benchmark is judged as `gapless gate` judges it, kept in the history, and fails its test when it got slower.

Times are given by a conftest here, so that no clock decides. Needs pytest, in this Python or in GAPLESS_FRAMEWORKS.

usage: pytest_plugin_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAM = ""
PYTHON = sys.executable if importlib.util.find_spec("pytest") else os.environ.get("GAPLESS_FRAMEWORKS", "")
BENCHMARK = """
calls = []
def work(factor):
    calls.append(factor)
    return factor * 2
def test_work(gapless_gate):
    assert gapless_gate(work, factor=21) == 42
    assert {check}
"""
GIVEN_TIMES = """
import gapless.pytest_plugin as plugin
plugin.timed = lambda call: [{ms} * (1 + 0.001 * (n % 5 - 2)) for n in range(30)]
"""


class Plugin(unittest.TestCase):
    def setUp(self) -> None:
        if not PYTHON:
            self.skipTest('no pytest here: pip install "gapless[pytest]"')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.db = f"sqlite:{self.folder}/history.db"
        (self.folder / "test_bench.py").write_text(BENCHMARK.format(check="True"))

    def past(self, runs: int) -> None:
        """Runs of the main branch around 2 ms."""
        draw = random.Random(7)
        lines = []
        for number in range(runs):
            lines.append({
                "commit_sha": f"{number:040x}", "branch": "main", "benchmark": "test_bench.py::test_work",
                "recorded_unix_ns": (1_767_225_600 + number * 3600) * 10**9, "metrics": {"step_time_ms": 2 * (1 + draw.gauss(0, 0.01))},
            })  # fmt: skip
        for line in lines:
            (self.folder / "run.json").write_text(
                json.dumps({"gapless": {}, "metrics": line["metrics"], "label": line["benchmark"]})
            )
            subprocess.run(
                [PROGRAM, "history", "record", str(self.folder / "run.json"), "--db", self.db, "--branch", "main", "--commit", str(line["commit_sha"])],
                check=True, capture_output=True,
            )  # fmt: skip

    def pytest(self, *options: str, ms: float | None = None, **environment: str) -> tuple[int, str]:
        (self.folder / "conftest.py").write_text("" if ms is None else GIVEN_TIMES.format(ms=ms))
        words = [PYTHON, "-m", "pytest", "-q", "-p", "gapless.pytest_plugin", "-p", "no:cacheprovider", *options]
        given = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "GAPLESS_PROGRAM": PROGRAM,
            "COLUMNS": "300",
            **environment,
        }
        done = subprocess.run(
            words, cwd=self.folder, env=given, capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def gate(self, ms: float, *options: str) -> tuple[int, str]:
        return self.pytest(
            "--gapless-gate",
            f"--gapless-db={self.db}",
            "--gapless-branch=work",
            f"--gapless-commit={'f' * 40}",
            *options,
            ms=ms,
        )

    def recorded(self) -> list[dict[str, Any]]:
        done = subprocess.run(
            [PROGRAM, "history", "list", "--db", self.db, "--json"], capture_output=True, text=True, check=True
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)["runs"]
        return found

    def test_without_the_option_the_function_is_called_once_and_nothing_is_kept(self) -> None:
        (self.folder / "test_bench.py").write_text(BENCHMARK.format(check="calls == [21]"))
        status, text = self.pytest(f"--gapless-db={self.db}")
        self.assertEqual(status, 0, text)
        self.assertNotIn("gapless gate", text)
        self.assertFalse((self.folder / "history.db").exists())

    def test_as_before(self) -> None:
        self.past(40)
        status, text = self.gate(2.0)
        self.assertEqual(status, 0, text)
        self.assertRegex(
            text, r"test_work: 2 ms, fine, speed [+−-]\d\.\d % .* \(changes from \d\.\d % on could be seen\)"
        )
        self.assertEqual(self.gate(2.0, "--gapless-strict")[0], 0)

    def test_one_slow_run_is_told_and_several_fail_the_test(self) -> None:
        self.past(40)
        status, text = self.gate(2.6)
        self.assertEqual(status, 0, text)
        self.assertIn("cannot tell", text)
        self.gate(2.6)
        status, text = self.gate(2.6)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"test_work: 2\.6 ms, slower, speed -2\d\.\d % against the baseline")

    def test_faster_passes(self) -> None:
        self.past(40)
        for _ in range(3):
            status, text = self.gate(1.5)
            self.assertEqual(status, 0, text)
        self.assertIn("faster", text)

    def test_without_a_history_it_cannot_tell_and_strict_fails(self) -> None:
        status, text = self.gate(2.0)
        self.assertEqual(status, 0, text)
        self.assertIn("cannot tell: the history has too few runs of the baseline", text)
        (run,) = self.recorded()
        self.assertEqual((run["benchmark"], run["branch"]), ("test_bench.py::test_work", "work"))
        self.assertEqual(self.gate(2.0, "--gapless-strict")[0], 1)

    def test_the_clock(self) -> None:
        status, text = self.pytest("--gapless-gate", f"--gapless-db={self.db}", "--gapless-branch=work")
        self.assertEqual(status, 0, text)
        found = re.search(r"test_work: (\S+) ms", text)
        assert found
        self.assertLess(float(found[1]), 0.1, "a call of a function that does nothing takes microseconds")
        (self.folder / "test_bench.py").write_text(
            "import time\ndef test_work(gapless_gate): gapless_gate(time.sleep, 0.003)\n"
        )
        found = re.search(r"test_work: (\S+) ms", self.pytest("--gapless-gate", f"--gapless-db={self.db}")[1])
        assert found
        self.assertGreaterEqual(float(found[1]), 3.0)

    def test_two_calls_in_a_test_are_refused(self) -> None:
        (self.folder / "test_bench.py").write_text(
            "def test_work(gapless_gate):\n    gapless_gate(int)\n    gapless_gate(int)\n"
        )
        status, text = self.pytest()
        self.assertEqual(status, 1)
        self.assertIn("gapless_gate is called once in a test", text)

    def test_without_the_program_the_test_says_so(self) -> None:
        status, text = self.pytest("--gapless-gate", ms=2.0, GAPLESS_PROGRAM="/nowhere/gapless")
        self.assertEqual(status, 1)
        self.assertIn("gapless cannot judge this benchmark: the program gapless cannot be run", text)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
