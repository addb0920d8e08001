#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/aa_control.py: what it counts, what it says of the counts, and its bounds.

usage: aa_control_test.py PROGRAM [TEST...]
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import unittest

from ci_job import COMMAND, LIMIT, PATTERN, PROGRAM, SCRIPT, Case
from corpus import ROOT


class Control(Case):
    def control(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "scripts/aa_control.py"), "--counts", str(self.counts), *words]
        return subprocess.run(
            [*command, "--program", str(PROGRAM), "--options", PATTERN, "--", *COMMAND.split()],
            cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip

    def setUp(self) -> None:
        super().setUp()
        self.counts = self.folder / "kept" / "counts.jsonl"
        self.git(self.folder, "clone", "-q", str(self.origin), str(self.work))

    def add(self, **verdicts: int) -> None:
        run = json.loads(self.counts.read_text().splitlines()[0])
        with self.counts.open("a") as file:
            for verdict, count in verdicts.items():
                file.write((json.dumps({**run, "verdict": verdict}) + "\n") * count)

    def test_counts_add_up(self) -> None:
        done = self.control("--runs", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stdout, r"^0 false alarms in 2 comparisons .* agrees with the stated 5 %, which is not shown"
        )
        self.add(fine=57)
        self.assertIn(
            "in 59 comparisons of a commit with itself (0.0 %, at most 5.0 %", self.control("--runs", "0").stdout
        )
        self.assertEqual(json.loads(self.control("--runs", "0", "--json").stdout)["verdict"], "holds")
        self.add(regression=12)
        done = self.control("--runs", "0", "--json")
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["runs"], found["false_alarms"]), (1, 71, 12))
        self.assertEqual((found["verdict"], found["stated_rate"]), ("exceeded", 0.05))

    def test_what_does_not_count(self) -> None:
        self.assertEqual(self.control("--runs", "1").returncode, 0)
        with self.counts.open("a") as file:
            file.write('torn\n[]\n{"verdict": "regression", "stated_rate": 0.05, "setting": "another"}\n')
        text = self.control("--runs", "0").stdout
        self.assertIn("0 false alarms in 1 comparisons", text)
        self.assertIn("2 lines of the counts cannot be read", text)
        (self.work / "run.py").write_text(SCRIPT.format(12))
        done = self.control("--runs", "1")
        self.assertEqual(
            (done.returncode, done.stderr), (1, "the working tree has changes: HEAD is not compared with itself\n")
        )

    def test_bounds(self) -> None:
        """Against published figures: the rule of three, Clopper and Pearson's table, and R's binom.test(5, 100)."""
        spec = importlib.util.spec_from_file_location("aa_control", ROOT / "scripts/aa_control.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["aa_control"] = module
        spec.loader.exec_module(module)
        for k, n, low, high in ((10, 100, 0.0490, 0.1762), (5, 100, 0.01643, 0.11283), (5, 10, 0.1871, 0.8129)):
            self.assertAlmostEqual(module.lower_bound(k, n, 0.975), low, places=4)
            self.assertAlmostEqual(module.upper_bound(k, n, 0.975), high, places=4)
        for n in (1, 59, 3000):
            self.assertAlmostEqual(module.upper_bound(0, n, 0.95), 1 - 0.05 ** (1 / n), places=9)
            self.assertAlmostEqual(module.lower_bound(n, n, 0.95), 0.05 ** (1 / n), places=9)
        self.assertEqual((module.lower_bound(0, 10, 0.95), module.upper_bound(10, 10, 0.95)), (0, 1))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
