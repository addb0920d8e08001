#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table kernel_limits against the rules of Nsight Compute that are in reports: both find the same limits, and the same most that each
can save.

A report holds what the rules of its own version said. Their occupancy rules changed: versions that have one rule for both parts are not
compared there. GAPLESS_NCU_REPORTS names a folder with more reports than the corpus has.

usage: ncu_rules_test.py PROGRAM
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from corpus import FOLDER

RULES = {
    "issue_slots": "IssueSlotUtilization",
    "stall": "CPIStall",
    "imbalance": "WorkloadImbalance",
    "unequal_warps": "AchievedOccupancy",
}
NEAR = 0.1  # percent points


def rows(program: str, report: Path, statement: str) -> list[dict[str, object]]:
    done = subprocess.run(
        [program, "query", str(report), statement, "--json"], capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout) if done.returncode == 0 else []


def by_launch(found: list[dict[str, object]], kind: str, value: str) -> dict[object, dict[str, list[float]]]:
    launches: dict[object, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in found:
        launches[row["launch_index"]][str(row[kind])].append(float(str(row[value])))
    return launches


def compare(program: str, report: Path, count: Counter[str]) -> list[str]:
    theirs = by_launch(
        rows(program, report, "SELECT launch_index, substr(metric, 6) AS rule, value FROM kernel_metric WHERE metric LIKE 'rule:%' AND value > 0"),
        "rule", "value",
    )  # fmt: skip
    ours = by_launch(
        rows(program, report, 'SELECT launch_index, "limit", 100 * saves_share AS value FROM kernel_limits'),
        "limit",
        "value",
    )
    differences = []
    for launch, said in theirs.items():
        for limit, rule in RULES.items():
            a, b = sorted(said.get(rule, [])), sorted(ours.get(launch, {}).get(limit, []))
            same = len(a) == len(b) and all(abs(x - y) <= NEAR for x, y in zip(a, b))
            if rule == "AchievedOccupancy" and (not a or "Occupancy" in said):
                continue
            count[f"{rule} {'same' if same else 'differ'}"] += bool(a or b)
            if not same:
                differences.append(f"{report.name}, launch {launch}: {rule} says {a}, {limit} {b}")
    return differences


def main() -> int:
    program = sys.argv[1]
    folders = [
        FOLDER / "ncu",
        *([Path(os.environ["GAPLESS_NCU_REPORTS"])] if "GAPLESS_NCU_REPORTS" in os.environ else []),
    ]
    reports = [path for folder in folders if folder.is_dir() for path in sorted(folder.rglob("*.ncu-rep*"))]
    if not reports:
        print("skipped: no report of Nsight Compute is beside the checkout")
        return 77
    count: Counter[str] = Counter()
    differences = [line for report in reports for line in compare(program, report, count)]
    print("\n".join(differences))
    print(f"{len(reports)} reports: " + ", ".join(f"{name} {number}" for name, number in sorted(count.items())))
    if not +count:
        print("skipped: no report here holds one of these rules")
        return 77
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
