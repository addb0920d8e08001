#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says whether a result is a regression against the history of the baseline branch.

Takes what run_benchmark.py or `gapless bench --json` wrote, a file of another tool that `gapless gate` reads, or an object with
numbers such as samples_per_second. In a workflow, where GITHUB_OUTPUT is set, the step gets the outputs `regression` (true or false),
`verdict` and, when it is known, `performance_delta` in percent. The exit status is 0; with --fail it is 1 for a regression.

A single slow result is no regression, but one that is pending: on shared machines some runs are slow without a change. What
run_benchmark.py confirmed by fresh runs is one, and so are several runs of a commit in the history that agree.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from typing import Any

import beside  # noqa: F401 -- finds what follows
from gapless.program import ProgramError, as_file, ask
from gapless.regression import Regression, result_document

# The keys that run_benchmark.py and `gapless gate` write beside the metrics of a result.
NO_METRICS = {"performance_delta", "threshold", "baseline_samples_per_sec", "num_gpus", "batch_size"}


def judge(given: argparse.Namespace) -> Regression:
    words = [f"--baseline={given.baseline_branch}", f"--threshold={given.threshold}"]
    words += [f"--{name}={value}" for name, value in (("db", given.db), ("label", given.label)) if value]
    flat = flat_metrics(given.results)
    if flat is None:
        return Regression.of(ask("gate", given.results, *words, accept=(0, 1)))
    with as_file(flat) as path:
        return Regression.of(ask("gate", path, *words, accept=(0, 1)))


def flat_metrics(path: str) -> dict[str, Any] | None:
    """A plain object of numbers in the form that the program reads; None where the file is something else."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except ValueError:
        return None  # perhaps another tool's: the program knows
    if not isinstance(found, dict) or not {"samples_per_second", "step_time_ms"} & found.keys() or "gapless" in found:
        return None
    numbers = {name: value for name, value in found.items() if isinstance(value, (int, float)) and value is not True}
    metrics = {name: value for name, value in numbers.items() if value is not False and name not in NO_METRICS}
    return result_document(metrics, {name: found.get(name) for name in ("gpu_type", "num_gpus", "batch_size", "label")})


def was_confirmed(path: str) -> bool:
    """Fresh runs settled it when it was measured."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("confirmed") is True and document.get("verdict") == "regression"


def settled(found: Regression, path: str) -> Regression:
    """A pending alarm as the regression that it is where the result itself was confirmed."""
    if not found.alarm_pending or not was_confirmed(path):
        return found
    return dataclasses.replace(found, regression_detected=True, alarm_pending=False, verdict="regression")


def sentence(found: Regression) -> str:
    text = "an alarm is pending" if found.alarm_pending else found.verdict.replace("_", " ")
    if found.performance_delta is not None:
        text += f": {found.performance_delta:+.1f} % against the baseline"
    if found.mde_share is not None:
        text += f" (one run could have shown {found.mde_share * 100:.1f} %)"
    return f"{text}; {found.recommendation}"


def tell_workflow(found: Regression) -> None:
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        return
    lines = [f"regression={str(found.regression_detected).lower()}", f"verdict={found.verdict}"]
    if found.performance_delta is not None:
        lines.append(f"performance_delta={found.performance_delta:.2f}")
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", required=True, metavar="FILE")
    parser.add_argument("--threshold", type=float, default=0.05, help="the size of change that matters (0.05)")
    parser.add_argument(
        "--db", metavar="URL", help="the history: sqlite:FILE or postgresql://… (otherwise the user's own)"
    )
    parser.add_argument("--label", help="name of what was measured, when a history holds several")
    parser.add_argument("--baseline-branch", default="main", help="whose history is the baseline (main)")
    parser.add_argument("--fail", action="store_true", help="exit with 1 for a regression")
    given = parser.parse_args()
    found = settled(judge(given), given.results)
    print(sentence(found))
    tell_workflow(found)
    return 1 if given.fail and found.regression_detected else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ProgramError, OSError, ValueError) as error:
        print(f"detect_regression: {error}", file=sys.stderr)
        sys.exit(getattr(error, "status", 3))
