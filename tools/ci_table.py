#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the table that ends a run of the tests: seconds of each step, and the slowest tests.

usage: ci_table.py TIMES BUILD RESULTS...

TIMES has lines "step<TAB>seconds". BUILD is a build folder, whose labels say why CI runs a long test. RESULTS are the JUnit files
that ctest writes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import test_plan

SLOWEST = 10
LIMIT_MIN = 25  # that CI may take on two quiet cores


def steps(path: Path) -> list[tuple[str, int]]:
    """Returns (title, seconds) of each step."""
    rows = (line.rsplit("\t", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return [(title, int(seconds)) for title, seconds in rows]


def tests(path: Path) -> list[tuple[float, str]]:
    """Returns (seconds, name) of each test of a JUnit file."""
    root = ElementTree.parse(path).getroot()
    return [(float(case.get("time", "0")), case.get("name", "")) for case in root.iter("testcase")]


def reasons(found: list[test_plan.Test]) -> dict[str, str]:
    """Returns, by test name, why CI runs a test that takes long."""
    return {
        test.name: label.removeprefix("why: ") for test in found for label in test.labels if label.startswith("why: ")
    }


def main(times: Path, why: dict[str, str], results: list[Path]) -> int:
    rows = steps(times)
    whole = sum(seconds for _, seconds in rows)
    print(f"\n{'step':44} {'seconds':>8} {'share':>7}")
    for title, seconds in rows:
        print(f"{title:44} {seconds:8} {100 * seconds / max(whole, 1):6.1f} %")
    print(f"{'all':44} {whole:8} {100:6.1f} %")
    if whole > LIMIT_MIN * 60:
        print(f"more than the {LIMIT_MIN} minutes that CI may take on two quiet cores")
    slowest = sorted((row for path in results if path.exists() for row in tests(path)), reverse=True)[:SLOWEST]
    if slowest:
        print(f"\n{'the slowest tests':52} {'seconds':>7}")
    for took, name in slowest:
        print(f"{name[:52]:52} {took:7.1f}  {why.get(name, '')}".rstrip())
    return 0


if __name__ == "__main__":
    build = Path(sys.argv[2])
    known = test_plan.tests_of(build) if (build / "CTestTestfile.cmake").exists() else []
    sys.exit(main(Path(sys.argv[1]), reasons(known), [Path(path) for path in sys.argv[3:]]))
