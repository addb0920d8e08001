#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers in the text of docs/case_study.md are those of the JSON that they were made from, in docs/case_study/.

usage: case_study_test.py PROGRAM

The page was made on another machine and cannot be made again, so this test reads it: the tables of stages and fixes as the
program prints them from the same JSON today, and each number of the sentences about the baseline from report.json.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

FOLDER = ROOT / "docs" / "case_study"
PAGE = FOLDER / "report.md"
STAGES = ["baseline", "loader", "precision", "layout", "compile", "all"]
PROGRAM = Path()


def tables(text: str) -> dict[str, list[list[str]]]:
    """Each table by the head of its first column."""
    found: dict[str, list[list[str]]] = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        found[rows[0][0]] = rows[2:]
    return found


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def report(*names: str) -> str:
    command = [str(PROGRAM), "report", *(str(FOLDER / f"{name}.json") for name in names), "--style", "lab"]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


class CaseStudy(unittest.TestCase):
    page = PAGE.read_text(encoding="utf-8")

    def test_tables_are_those_that_the_program_prints(self) -> None:
        shown, printed = tables(self.page), tables(report("optimize", *STAGES))
        self.assertEqual(shown["stage"], printed["stage"])
        self.assertEqual(shown["fix"], printed["fix"])

    def test_stages_have_the_numbers_of_their_json(self) -> None:
        rows = tables(self.page)["stage"]
        self.assertEqual([row[0] for row in rows], STAGES)
        first = read("baseline")["metrics"]["samples_per_second"]
        for row in rows:
            metrics = read(row[0])["metrics"]
            self.assertEqual(row[1], f"{metrics['step_time_ms']:.1f} ms")
            self.assertEqual(row[2], f"{metrics['samples_per_second']:.1f}")
            self.assertEqual(row[3], f"{metrics['samples_per_second'] / first:.2f}×")
            self.assertEqual(row[5], "–")  # a CPU: utilisation of a GPU is absent, not 0

    def test_baseline_has_the_numbers_of_the_report(self) -> None:
        recording = read("report")["recordings"][0]
        text = self.page.partition("## Baseline")[2].partition("\n## ")[0]
        self.assertIn(f"holds {recording['steps']} complete steps", text)
        self.assertIn(f"a median of {recording['step_ns'] / 1e6:.1f} ms", text)
        self.assertIn(f"95th percentile of {recording['step_p95_ns'] / 1e6:.1f} ms", text)
        self.assertIn(f"busy {recording['cpu_utilization']:.1f} %", text)
        self.assertIn(f"the step {recording['estimated_speedup']['expected']:.2f}×", text)
        for found in recording["bottlenecks"][: text.count("\n- ")]:
            self.assertIn(found["title"], text)
            self.assertIn(f"{100 * found['share_of_step']:.1f} % of the step", text)
            self.assertIn(f"{found['gain']['expected']:.2f}×", text)

    def test_operators_have_the_numbers_of_the_report(self) -> None:
        recording = read("report")["recordings"][0]
        by_name = {found["name"]: found for found in recording["operators"]}
        rows = tables(self.page)["operator"]
        self.assertGreaterEqual(len(rows), 5)
        for name, calls, time, *_ in rows:
            found = by_name.get(name.replace("\\", ""))
            if found is None:  # only the optimised training has it
                self.assertEqual((calls, time), ("–", "–"))
                continue
            self.assertAlmostEqual(float(calls), found["calls_per_step"], delta=0.51)
            self.assertAlmostEqual(float(time.split()[0]), found["self_ns_per_step"] / 1e6, delta=0.051)

    def test_pictures_are_there_and_load_nothing(self) -> None:
        for name in re.findall(r"\]\((\w+\.svg)\)", self.page):
            picture = (FOLDER / name).read_text(encoding="utf-8")
            self.assertTrue(picture.startswith("<svg"))
            self.assertNotRegex(picture, r"href|url\(|<script")

    def test_the_readme_of_the_lab_has_the_same_table(self) -> None:
        readme = (ROOT / "examples" / "lab" / "README.md").read_text(encoding="utf-8")
        self.assertEqual(tables(readme)["stage"], tables(self.page)["stage"])


class Inputs(unittest.TestCase):
    """Input that is no result says what to give instead."""

    def refused(self, *words: str) -> str:
        done = subprocess.run([str(PROGRAM), "report", *words], capture_output=True, encoding="utf-8", check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_a_missing_history(self) -> None:
        self.assertIn("cannot read nowhere.db: there is no history", self.refused("nowhere.db"))

    def test_json_of_another_verb(self) -> None:
        self.assertIn("it is no result of optimize, bench or tune", self.refused(str(FOLDER / "report.json")))

    def test_another_form(self) -> None:
        error = self.refused(str(FOLDER / "baseline.json"), "-o", "page.pdf")
        self.assertIn("cannot write page.pdf: its name ends in neither .md nor .html", error)


if __name__ == "__main__":
    PROGRAM = Path(sys.argv.pop(1)).absolute()
    unittest.main()
