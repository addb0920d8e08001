#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plan of the tests (tools/test_plan.py) finds what would never run, and the closing table of a run (tools/ci_table.py).

usage: test_plan_test.py
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import ci_table
import clang_warnings
import test_plan
from test_plan import Test


class Labels(unittest.TestCase):
    def test_a_known_kind_is_fine(self) -> None:
        self.assertEqual(test_plan.problems_of_labels([Test("a", frozenset({"unit", "why: it is long"}), ())]), [])

    def test_without_a_kind(self) -> None:
        (problem,) = test_plan.problems_of_labels([Test("a", frozenset({"slow"}), ())])
        self.assertIn("a: no label says what kind of test it is", problem)

    def test_a_label_that_nobody_knows(self) -> None:
        self.assertEqual(
            test_plan.problems_of_labels([Test("a", frozenset({"unit", "sometimes"}), ())]),
            ["a: the label 'sometimes' is not known"],
        )

    def test_where_labels_lead(self) -> None:
        def where(*labels: str) -> set[str]:
            return {run.name for run in test_plan.RUNS if test_plan.runs_in(Test("a", frozenset(labels), ()), run)}

        self.assertEqual(where("training", "optimised", "slow"), {"all"})
        self.assertEqual(where("corpus", "optimised"), {"ci-optimised", "person", "all", "clang"})
        self.assertIn("sanitizers", where("unit"))
        self.assertNotIn("ci-sanitizers", where("unit"))
        self.assertIn("ci-sanitizers", where("unit", "reader"))
        self.assertNotIn("ci-optimised", where("unit", "reader"))


class ClangReads(unittest.TestCase):
    def test_sources_of_which_a_file_changed(self) -> None:
        listed = "a.o: #deps 2, deps mtime 1 (VALID)\n    ../../src/a.cc\n    ../../src/base.h\n\nb.o: #deps 1, deps mtime 1 (VALID)\n    ../../src/b.cc\n"
        files = clang_warnings.files_of_objects(listed, Path("/there/build/release"))
        touched = {
            name: clang_warnings.is_touched({"command": f"clang++ -c x -o {name}"}, files, {Path("/there/src/base.h")})
            for name in ("a.o", "b.o", "unknown.o")
        }
        self.assertEqual(touched, {"a.o": True, "b.o": False, "unknown.o": True})


class Files(unittest.TestCase):
    def test_what_nothing_finds(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for folder in ("tests/agent", "tests/validate_api", "web/test"):
                (root / folder).mkdir(parents=True)
            (root / "tests/started.py").touch()
            (root / "tests/forgotten.py").touch()
            (root / "tests/agent/test_found.py").write_text("def test_one(): pass\n")
            (root / "tests/agent/lost.py").write_text("def test_one(): pass\n")
            (root / "web/test/lost.ts").write_text("\ntest('x', () => {})\n")
            problems = test_plan.problems_of_files([Test("a", frozenset(), ("python3", "x/started.py"))], root)
        self.assertEqual(
            [problem.split(":")[0] for problem in problems],
            ["tests/forgotten.py", "tests/agent/lost.py", "web/test/lost.ts"],
        )


class Table(unittest.TestCase):
    def test_steps_and_slowest_tests(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            times, results = Path(name, "times"), Path(name, "results.xml")
            times.write_text("build\t90\ntests\t30\n")
            results.write_text(
                '<testsuite><testcase name="quick" time="0.5"/><testcase name="long" time="29"/></testsuite>'
            )
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                why = ci_table.reasons([Test("long", frozenset({"unit", "why: all of it"}), ())])
                self.assertEqual(ci_table.main(times, why, [results, Path(name, "absent.xml")]), 0)
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[2].split(), ["build", "90", "75.0", "%"])
        self.assertEqual(lines[4].split(), ["all", "120", "100.0", "%"])
        self.assertEqual(lines[-2].split(), ["long", "29.0", "all", "of", "it"])


if __name__ == "__main__":
    unittest.main()
