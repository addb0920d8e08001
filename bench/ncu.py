#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times reading every value, unit and rule of a report of Nsight Compute against NVIDIA's reader, in turn, and prints the ratio.

    bench/ncu.py PROGRAM PYTHON REPORT [--rounds 7]

PYTHON has NVIDIA's package: python3 -m venv V; V/bin/pip install ncu-report. Every figure is of a whole process.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

LIBRARY = """
import sys, ncu_report
context = ncu_report.load_report(sys.argv[1])
for index in range(context.num_ranges()):
    part = context.range_by_idx(index)
    for number in range(part.num_actions()):
        action = part.action_by_idx(number)
        for name in action.metric_names():
            metric = action.metric_by_name(name)
            if metric.has_value():
                metric.value(), metric.unit()
        action.rule_results_as_dicts()
"""


def seconds(words: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("python")
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    report = str(given.report)
    commands = {
        "gapless query": [
            given.program,
            "query",
            report,
            "--no-cache",
            "SELECT count(*), sum(value) FROM kernel_metric",
        ],
        "ncu_report": [given.python, "-c", LIBRARY, report],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(given.rounds):
        for name, words in commands.items():
            taken[name].append(seconds(words))
    print(f"{given.report.name}, {given.report.stat().st_size:,} bytes, {given.rounds} rounds in turn (medians)\n")
    print("| what | ms |\n|---|---|")
    for name, times in taken.items():
        print(f"| {name} | {1000 * statistics.median(times):.1f} |")
    ratio = statistics.median(theirs / own for own, theirs in zip(*taken.values()))
    print(f"\nncu_report takes {ratio:.1f} times as long; the aim is 5")
    return 0


if __name__ == "__main__":
    sys.exit(main())
