#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table that ends a run of the tests: what each step took, and the slowest tests.

usage: ci_table.py TIMES RESULTS...    TIMES has a line "step<TAB>seconds" each; RESULTS are the JUnit files that ctest writes
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

SLOWEST = 10


def steps(path: Path) -> list[tuple[str, int]]:
    rows = (line.rsplit("\t", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return [(title, int(seconds)) for title, seconds in rows]


def tests(path: Path) -> list[tuple[float, str, str]]:
    """(seconds, name, why CI runs it though it is long)"""
    found = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        values = (one.get("value", "") for one in case.iter("property") if one.get("name") == "cmake_labels")
        labels = [label for value in values for label in value.split(";")]
        why = next((label.removeprefix("why: ") for label in labels if label.startswith("why: ")), "")
        found.append((float(case.get("time", "0")), case.get("name", ""), why))
    return found


def main(times: Path, results: list[Path]) -> int:
    rows = steps(times)
    whole = sum(seconds for _, seconds in rows)
    print(f"\n{'step':44} {'seconds':>8} {'share':>7}")
    for title, seconds in rows:
        print(f"{title:44} {seconds:8} {100 * seconds / max(whole, 1):6.1f} %")
    print(f"{'all':44} {whole:8} {100:6.1f} %")
    slowest = sorted((one for path in results if path.exists() for one in tests(path)), reverse=True)[:SLOWEST]
    if slowest:
        print(f"\n{'the slowest tests':52} {'seconds':>7}")
    for took, name, why in slowest:
        print(f"{name[:52]:52} {took:7.1f}  {why}".rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(one) for one in sys.argv[2:]]))
