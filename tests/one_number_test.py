#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One number per phrase: what a person reads of a recording in the terminal, in Markdown, on the page, in JSON, in `--explain` and from
`predict` is the same number wherever it stands.

usage: one_number_test.py PROGRAM [RECORDING...]    without recordings: twelve of the corpus

Compared are titles, evidence, severities and gains of all findings; the bars of the breakdown; the plan's first fix with `predict`; and
each formula of `--explain` with the number that it is said to give.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT, WALKED, require

PROGRAM = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
RECORDINGS = [*WALKED, FOLDER / "cases/overlapped_host_and_device.json", FOLDER / "cases/naive_ddp_cuda_only.json"]
PARTS = {"compute": "compute_ns", "communication": "exposed_comm_ns", "copy": "exposed_copy_ns", "idle": "idle_ns"}


@cache
def said(path: Path, verb: str, *words: str) -> str:
    """Returns what the program prints, as one line of plain words."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "500", "NO_COLOR": "1"}
    command = [PROGRAM, verb, str(path), "--no-cache", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def words_of(text: str) -> str:
    return " ".join(re.sub(r"[`*\\]", "", html.unescape(text)).split())


@cache
def page_of(path: Path) -> Any:
    """The data of the page."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        said(path, "analyze", "-o", str(page))
        found = re.search(
            r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text("utf-8"), re.DOTALL
        )
    if not found:
        raise AssertionError(f"{path.name}: the page holds no data")
    return json.loads(found[1])["analyze"]


def factor(value: float) -> str:
    return f"{value:.2f}×" if value < 9.995 else f"{value:.1f}×"


def share(part: float, whole: float) -> str:
    percent = 100 * part / whole
    return f"{percent:.1f} %" if percent == 0 or percent >= 1 else f"{percent:.2f} %"


class OneNumber(unittest.TestCase):
    def each(self) -> Iterator[tuple[Path, Any]]:
        for path in RECORDINGS:
            yield path, json.loads(said(path, "analyze", "--json"))

    def test_findings_read_alike(self) -> None:
        found = 0
        for path, report in self.each():
            terminal, markdown = (words_of(said(path, "analyze", *how)) for how in (("-v",), ("--format", "markdown")))
            for finding in report["bottlenecks"]:
                explained = words_of(said(path, "analyze", "--explain", finding["id"]))
                self.assertIn(words_of(finding["title"]), explained)
                self.assertIn(words_of(finding["title"]), terminal)
                self.assertIn(words_of(finding["title"]), markdown)
                for evidence in finding["evidence"]:
                    self.assertIn(words_of(evidence["text"]), explained)
                    self.assertIn(words_of(evidence["text"]), markdown)
                found += 1
        self.assertGreater(found, 20)

    def test_gains_and_severities_read_alike(self) -> None:
        for path, report in self.each():
            terminal = words_of(said(path, "analyze", "-v"))
            for finding in report["bottlenecks"]:
                explained = words_of(said(path, "analyze", "--explain", finding["id"]))
                self.assertIn(f"severity {finding['severity']:.2f}", explained)
                if "gain" not in finding:
                    continue
                gain = factor(finding["gain"]["expected"])
                self.assertIn(f"gain {gain}", explained, finding["id"])
                self.assertTrue(gain in terminal or "1.00×" in terminal, finding["id"])

    def test_the_page_has_the_report(self) -> None:
        for path, report in self.each():
            page = page_of(path)
            for part in ("bottlenecks", "plan", "breakdown", "run"):
                self.assertEqual(page.get(part), report.get(part), part)

    def test_formulas_give_their_numbers(self) -> None:
        derived = 0
        for path, report in self.each():
            for finding in report["bottlenecks"]:
                explained = words_of(said(path, "analyze", "--explain", finding["id"]))
                formula = re.search(r"severity (\S+), \w+: 1 − exp\(−(\S+) / 0.15\)", explained)
                if formula:
                    self.assertAlmostEqual(float(formula[1]), 1 - math.exp(-float(formula[2]) / 0.15), delta=0.0101)
                    derived += 1
                for number, exponent in re.findall(r"would be (\S+) = 1 − exp\(−(\S+) / 0.15\)", explained):
                    self.assertAlmostEqual(float(number), 1 - math.exp(-float(exponent) / 0.15), delta=0.0101)
        self.assertGreater(derived, 10)

    def test_bars_are_the_breakdown(self) -> None:
        for path, report in self.each():
            rows = report.get("breakdown", [])
            terminal = words_of(said(path, "analyze", "-v"))
            wall = sum(row["wall_ns"] for row in rows)
            for name, key in PARTS.items():
                part = sum(row[key] for row in rows)
                if part >= 0.001 * wall and part > 0:  # a smaller one has no bar
                    self.assertIn(f"{name} {share(part, wall)}", terminal)

    def test_predict_says_what_the_plan_says(self) -> None:
        compared = 0
        for path, report in self.each():
            if not report["plan"] or report["plan"][0]["gain"]["method"] != "replay":
                continue
            first = report["plan"][0]
            answer = json.loads(said(path, "predict", "--what", first["fix"], "--json"))["predictions"][0]["speedup"]
            for bound in ("low", "expected", "high"):
                self.assertAlmostEqual(answer[bound], first["gain"][bound], places=9, msg=f"{path.name}: {bound}")
            compared += 1
        self.assertGreater(compared, 3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        RECORDINGS = [Path(name) for name in sys.argv[1:]]
        del sys.argv[1:]
    else:
        require()
    unittest.main()
