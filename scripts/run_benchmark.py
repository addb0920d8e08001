#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a training command, judges it against the history, records it, and writes the result as JSON.

The result is that of `gapless bench --json` with these keys at its top; a figure that is not known is null:
samples_per_second, performance_delta (percent, below 0 is worse), gpu_utilization, memory_usage_gb, regression_detected, verdict,
threshold, baseline_samples_per_sec, likely_culprit_commit, step_time_ms and its percentiles, commit_sha, branch.
A result that looks slower is settled by running the command again, three to six times: `confirmed` is true where it stayed slower,
`alarm_pending` where that left it open.
Three of them are never null, so that a comment can be made of them: without a GPU, gpu_utilization and memory_usage_gb are those of the
command's processes on the host (gpu_utilization_source is "cpu", memory_usage_source "host"); while there is no baseline to compare with,
performance_delta is 0 and performance_delta_source is "no baseline" instead of "history".
The exit status is 0 also for a regression; detect_regression.py --fail has another one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from beside import ROOT
from gapless.host import GB, SOURCE, cores
from gapless.program import ProgramError, ask
from gapless.regression import whose

EXAMPLE = [sys.executable, str(ROOT / "examples" / "planted" / "slow_loader.py"), "--steps", "120"]
METRICS = (
    "samples_per_second",
    "gpu_utilization",
    "gpu_utilization_source",
    "memory_usage_gb",
    "memory_usage_source",
    "step_time_ms",
    "step_time_p50_ms",
    "step_time_p95_ms",
    "step_time_p99_ms",
    "step_time_std_ms",
)
VERDICTS = (
    "performance_delta",
    "regression_detected",
    "alarm_pending",
    "verdict",
    "threshold",
    "baseline_samples_per_sec",
    "likely_culprit_commit",
    "recommendation",
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit-sha", help="commit of the result (otherwise git's)")
    parser.add_argument("--branch", help="its branch (otherwise git's)")
    parser.add_argument("--output", default="benchmark_results.json", metavar="FILE")
    parser.add_argument(
        "--db", metavar="URL", help="the history: sqlite:FILE or postgresql://… (otherwise the user's own)"
    )
    parser.add_argument("--label", help="name of what is measured, when a history holds several")
    parser.add_argument("--baseline-branch", default="main", help="whose history is the baseline (main)")
    parser.add_argument("--threshold", type=float, default=0.05, help="the size of change that matters (0.05)")
    parser.add_argument("--no-record", action="store_true", help="judge, but do not keep the result in the history")
    parser.add_argument(
        "--bench", action="append", default=[], metavar="OPTION", help="for gapless bench: --bench=--steps=50"
    )
    parser.add_argument("command", nargs="*", metavar="-- COMMAND", help="an example on the CPU when there is none")
    return parser.parse_args()


def measured(options: list[str], command: list[str]) -> dict[str, Any]:
    """Returns what `gapless bench` measures, and for metrics that it has none of those of the processes that it ran."""
    begun = time.perf_counter()
    result: dict[str, Any] = ask("bench", *options, "--", *command)
    passed, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    metrics = result["metrics"]
    if metrics.get("gpu_utilization") is None:
        percent = (used.ru_utime + used.ru_stime) / passed / cores() * 100
        metrics.update(gpu_utilization=min(100.0, percent), gpu_utilization_source="cpu")
    if metrics.get("memory_usage_gb") is None:
        unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
        metrics.update(memory_usage_gb=used.ru_maxrss * unit / GB, memory_usage_source=SOURCE)
    return result


# Options of `gapless bench` that `gapless gate` has, too: with others a fresh run would measure something else.
SHARED = ("--warmup", "--steps", "--pattern", "--whole", "--timeout", "--step-function", "--pin")


def judge(given: argparse.Namespace, path: str, command: list[str]) -> dict[str, Any]:
    words = [f"--baseline={given.baseline_branch}", f"--threshold={given.threshold}"]
    words += whose(given.commit_sha, given.branch)
    words += [f"--{name}={value}" for name, value in (("db", given.db), ("label", given.label)) if value]
    if not given.no_record:
        words.append("--record")
    options = [option for option in given.bench if not option.startswith("--runs")]  # each fresh run is one process
    if all(option.split("=")[0] in SHARED for option in options):
        words += [*options, "--", *command]
    answer: dict[str, Any] = ask("gate", path, *words, accept=(0, 1))
    return answer


def write(path: Path, document: dict[str, Any]) -> None:
    """At once: who reads the file sees all of it or none."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def main() -> int:
    given = arguments()
    output = Path(given.output)
    command = given.command or EXAMPLE
    result = measured(given.bench, command)
    result.update({name: result["metrics"].get(name) for name in METRICS})
    result.update(commit_sha=given.commit_sha, branch=given.branch)
    if given.label:
        result["label"] = given.label
    result.update(dict.fromkeys(VERDICTS))
    result.update(performance_delta=0.0, performance_delta_source="no baseline", regression_detected=False)
    write(output, result)  # what was measured is kept also when it cannot be judged
    answer = judge(given, given.output, command)
    result.update({name: answer.get(name) for name in VERDICTS})
    result["confirmed"] = any(metric.get("confirmed") for metric in answer.get("metrics", []))
    known = result["performance_delta"] is not None
    result.update(
        performance_delta=result["performance_delta"] if known else 0.0,
        performance_delta_source="history" if known else "no baseline",
    )
    write(output, result)
    print(f"{given.output}: {result['verdict']}, {result['recommendation']}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ProgramError, OSError) as error:
        print(f"run_benchmark: {error}", file=sys.stderr)
        sys.exit(getattr(error, "status", 3))
    except KeyboardInterrupt:
        sys.exit(130)
