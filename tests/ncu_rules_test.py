#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table kernel_limits against the rules of Nsight Compute that are in reports: both find the same limits, and the same most that each
can save. Table kernel_roofline against two of ncu's own figures: the throughput of device memory, and the share of the peak that its rule of
rooflines says.

A report holds what the rules of its own version said. Their occupancy rules changed: versions that have one rule for both parts are not
compared there. GAPLESS_NCU_REPORTS names a folder with more reports than the corpus has. GAPLESS_NCU_PYTHON names a Python that has
NVIDIA's reader (PyPI: ncu-report): then the samples of each line are compared with what that says.

usage: ncu_rules_test.py PROGRAM
"""

from __future__ import annotations

import json
import os
import re
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
LINES = """
import json, sys, ncu_report
found = []
for path in sys.argv[1:]:
    launches = ncu_report.load_report(path).range_by_idx(0)
    for index in range(launches.num_actions()):
        action, lines = launches.action_by_idx(index), {}
        if "smsp__pcsamp_sample_count" not in action.metric_names():
            continue
        samples = action.metric_by_name("smsp__pcsamp_sample_count")
        places = samples.correlation_ids()
        for at in range(samples.num_instances()):
            info = action.source_info(places.as_uint64(at))
            key = f"{info.file_name()}:{info.line()}" if info else ""
            lines[key] = lines.get(key, 0) + samples.as_uint64(at)
        found.append([path, index, {key: count for key, count in lines.items() if count}])
print(json.dumps(found))
"""


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


def compare_roofline(program: str, report: Path, count: Counter[str]) -> list[str]:
    """Memory: ncu's throughput of device memory is that of bytes in all these reports. Computing: ncu says whole per cents."""
    said = rows(
        program, report,
        "SELECT r.launch_index AS launch, r.precision, 100 * r.gbps / r.peak_gbps AS memory, 100 * r.tflops / r.peak_tflops AS work, "
        "m.value AS throughput, s.text FROM kernel_roofline r "
        "JOIN kernel_metric m ON m.launch_index = r.launch_index AND m.metric = 'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed' "
        "LEFT JOIN kernel_metric s ON s.launch_index = r.launch_index AND s.metric = 'rule:SOLFPRoofline' WHERE memory IS NOT NULL",
    )  # fmt: skip
    differences = []
    for row in said:
        near = abs(float(str(row["memory"])) - float(str(row["throughput"]))) <= NEAR
        count[f"memory roof {'same' if near else 'differ'}"] += 1
        if not near:
            differences.append(
                f"{report.name}, launch {row['launch']}: memory {row['memory']} %, ncu {row['throughput']} %"
            )
        stated = re.search(rf"(\d+)% of this device's {row['precision']} peak", str(row["text"]))
        if stated is None:
            continue
        near = abs(float(str(row["work"])) - float(stated[1])) <= 0.5 + NEAR
        count[f"compute roof {'same' if near else 'differ'}"] += 1
        if not near:
            differences.append(
                f"{report.name}, launch {row['launch']}: {row['precision']} {row['work']} %, ncu {stated[1]} %"
            )
    return differences


def compare_lines(program: str, reports: list[Path], count: Counter[str]) -> list[str]:
    reader = os.environ.get("GAPLESS_NCU_PYTHON")
    plain = [str(report) for report in reports if report.suffix == ".ncu-rep"]
    if reader is None or not plain:
        return []
    theirs = json.loads(
        subprocess.run([reader, "-c", LINES, *plain], capture_output=True, text=True, check=True).stdout
    )
    differences = []
    for path, launch, lines in theirs:
        found = rows(
            program, Path(path),
            f"SELECT coalesce(file || ':' || line, '') AS place, sum(samples) AS n FROM kernel_line WHERE launch_index = {launch} GROUP BY 1",
        )  # fmt: skip
        ours = {str(row["place"]): int(str(row["n"])) for row in found}
        count[f"launches with {'lines' if any(lines) else 'samples'} {'same' if ours == lines else 'differ'}"] += 1
        if ours != lines:
            differences.append(f"{Path(path).name}, launch {launch}: ncu_report says {lines}, kernel_line {ours}")
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
    differences += [line for report in reports for line in compare_roofline(program, report, count)]
    differences += compare_lines(program, reports, count)
    print("\n".join(differences))
    print(f"{len(reports)} reports: " + ", ".join(f"{name} {number}" for name, number in sorted(count.items())))
    if not +count:
        print("skipped: no report here holds one of these rules")
        return 77
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
