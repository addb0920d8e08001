#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One answer: the program, the C++ library and Python give the same numbers for the same recordings, with the tested predictions of
a user's history, too.

usage: one_answer_test.py PROGRAM REPORT_JSON [TEST...]    REPORT_JSON is tests/report_json.cc
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus import ROOT, require
from corpus import WALKED as RECORDINGS

sys.path.insert(0, str(ROOT / "python"))

PROGRAM = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
LIBRARY = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/release/report_json")

TESTED = 6  # predictions that the user has tested


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{words} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def by_program(path: Path) -> Any:
    return json.loads(run(PROGRAM, "analyze", str(path), "--no-cache", "--json"))


def numbers(value: Any, where: str = "") -> Iterator[tuple[str, float]]:
    """Yields each number of a document with its path."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers(part, f"{where}.{key}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from numbers(part, f"{where}[{index}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield where, float(value)


class OneAnswer(unittest.TestCase):
    home: tempfile.TemporaryDirectory[str]
    without: dict[Path, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.home = tempfile.TemporaryDirectory(prefix="gapless-one-answer-")
        os.environ.update(
            XDG_DATA_HOME=cls.home.name, XDG_CACHE_HOME=cls.home.name, GAPLESS_PROGRAM=PROGRAM, LC_ALL="C.UTF-8"
        )
        cls.without = {path: by_program(path) for path in RECORDINGS[:1]}
        before, after = (str(path) for path in RECORDINGS[:2])
        for item in ("workers=4", "workers=2", "pin", "amp", "compile", "channels_last")[:TESTED]:
            run(PROGRAM, "predict", before, "--what", item, "--measured", after, "--record", "--no-cache")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.home.cleanup()

    def same(self, path: Path, expected: Any, given: Any) -> int:
        """Compares every number; returns how many there are."""
        wanted, found = dict(numbers(expected)), dict(numbers(given))
        self.assertEqual(found.keys(), wanted.keys(), path.name)
        for where, number in wanted.items():
            self.assertEqual(found[where], number, f"{path.name}: {where}")
        return len(wanted)

    def test_the_library_and_python_give_the_numbers_of_the_program(self) -> None:
        from gapless import BottleneckAnalyzer
        from gapless.program import ask

        lines = run(LIBRARY, *map(str, RECORDINGS)).splitlines()
        self.assertEqual(len(lines), len(RECORDINGS))
        compared = 0
        for path, line in zip(RECORDINGS, lines):
            report, library = by_program(path), json.loads(line)
            compared += self.same(path, report, json.loads(library["report"]))
            compared += self.same(path, report, ask("analyze", str(path), "--no-cache"))
            ranked = {found["id"]: found for found in report["bottlenecks"]}
            self.assertEqual([found["id"] for found in library["bottlenecks"]], list(ranked), path.name)
            for found in [*library["bottlenecks"], *BottleneckAnalyzer().analyze_all(path)]:
                expected = ranked[found["id"]]
                self.assertEqual(found["severity"], expected["severity"], path.name)
                self.assertEqual(found.get("share_of_step"), expected.get("share_of_step"), path.name)
                gain, wanted = found.get("gain"), expected.get("gain")
                self.assertEqual(gain is None, wanted is None, f"{path.name}: {found['id']}")
                for bound in ("low", "expected", "high") if gain else ():
                    self.assertEqual(gain[bound], wanted[bound], f"{path.name}: {found['id']} {bound}")
            if "gain" in library:
                for bound in ("low", "expected", "high"):
                    self.assertEqual(library["gain"][bound], report["estimated_speedup"][bound], path.name)
        self.assertGreater(compared, 1000)

    def test_the_tested_predictions_of_the_user_count(self) -> None:
        for path, report in self.without.items():
            self.assertNotEqual(dict(numbers(report["bottlenecks"])), dict(numbers(by_program(path)["bottlenecks"])))


if __name__ == "__main__":
    require()
    unittest.main()
