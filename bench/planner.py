#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of the gain that there is does `gapless optimize` keep?

usage, with a Python that has torch and nothing else running:
  planner.py PROGRAM best [KIND...]                  measures each fix of the small families alone, by the training's own clock
  planner.py PROGRAM kept [--budget TIME] [KIND...]  runs optimize on each training, and prints the table

`best` writes bench/results/planner_best.toml with the machine: per training the best value of each family whose 95 % interval lies
above 1, from ten rounds of one process each. The best gain is the product of these, as the families are independent here. What `kept` keeps is ln(speedup that optimize
proved) / ln(best); a training without any gain counts 1 where optimize proved none.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "planner"))
BEST = HERE / "results" / "planner_best.toml"
TRAININGS = HERE / "planner" / "small_trainings.py"
FAMILIES = {
    "threads": ("threads=1", "threads=2"),
    "workers": ("workers=0", "workers=1", "workers=2"),
    "fused_optimizer": ("fused_optimizer=fused", "fused_optimizer=foreach"),
    "zero_grad": ("zero_grad",),
    "gc_freeze": ("gc_freeze",),
    "anomaly": ("anomaly",),
    "compile": ("compile=default",),
}
WITH_LOADER = ("many_workers", "slow_transform")
RUN_S = 2.0  # that a run measures
FIRST_ROUNDS, MAX_ROUNDS = 3, 10
MIN_PROMISE = 1.02  # mean speedup of the first rounds that is worth more
T_QUANTILES = {9: 2.262}  # of 97.5 %, by degrees of freedom


def machine() -> str:
    name = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            break
    return f"{name}, {len(os.sched_getaffinity(0))} processors"


def optimize(program: str, kind: str, *words: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="gapless-planner-") as folder:
        done = subprocess.run(
            [program, "optimize", "--json", "--quiet", "-o", "out", *words, "--", sys.executable, str(TRAININGS), kind],
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
        )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{kind}: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def mean_step_ms(program: str, kind: str, item: str | None, folder: str) -> float:
    """The mean step by the training's own clock, in a process of its own; with an item, by `gapless run`."""
    command = [sys.executable, str(TRAININGS), kind, "--seconds", str(RUN_S)]
    if item is not None:
        recipe = Path(folder) / "recipe.json"
        recipe.write_text(
            json.dumps({"format": "gapless.recipe", "schema": 1, "command": command, "fixes": [{"item": item}]})
        )
        command = [program, "run", "--quiet", "--recipe", str(recipe), "--", *command]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    words = done.stdout.split()
    if done.returncode != 0 or "ms_per_step" not in words:
        raise SystemExit(f"{kind} {item}: {done.stderr.strip()[-500:]}")
    return float(words[words.index("ms_per_step") + 1])


def interval_of(logs: list[float]) -> tuple[float, float]:
    """The expected speedup and the lower end of its 95 % interval, by Student's t."""
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - T_QUANTILES[len(logs) - 1] * error)


def best_of(program: str, kind: str) -> dict[str, float]:
    """The best value of each family, with its speedup; families without a significant gain are left out.

    Every value runs in every round, in random order, beside the training as it is; what is not faster in the first rounds leaves."""
    items = [
        item for family, values in FAMILIES.items() if family != "workers" or kind in WITH_LOADER for item in values
    ]
    logs: dict[str, list[float]] = {item: [] for item in items}
    lots = random.Random(kind)
    with tempfile.TemporaryDirectory(prefix="gapless-planner-") as folder:
        for number in range(MAX_ROUNDS):
            order: list[str | None] = [None, *items]
            lots.shuffle(order)
            ms = {item: mean_step_ms(program, kind, item, folder) for item in order}
            for item in items:
                logs[item].append(math.log(ms[None] / ms[item]))
            if number + 1 == FIRST_ROUNDS:
                items = [item for item in items if statistics.fmean(logs[item]) > math.log(MIN_PROMISE)]
    found: dict[str, float] = {}
    for values in FAMILIES.values():
        proved = {}
        for item in values:
            if item in items:
                expected, low = interval_of(logs[item])
                print(f"  {kind} {item}: {expected:.3f} (from {low:.3f})", flush=True)
                if low > 1:
                    proved[item] = expected
        if proved:
            best = max(proved, key=lambda item: proved[item])
            found[best] = proved[best]
    return found


def write_best(best: dict[str, dict[str, float]]) -> None:
    lines = [
        "# Written by bench/planner.py: speedups of the best value of each family, alone.",
        f'machine = "{machine()}"',
    ]
    for kind, gains in best.items():
        lines += ["", f"[{kind}]", *(f'"{item}" = {gain:.3f}' for item, gain in gains.items())]
    BEST.write_text("\n".join(lines) + "\n")


def read_best() -> dict[str, dict[str, float]]:
    """The file as write_best() leaves it; Python before 3.11 has no reader of TOML."""
    best: dict[str, dict[str, float]] = {}
    kind = ""
    for line in BEST.read_text().splitlines() if BEST.exists() else []:
        if line.startswith("["):
            kind = line.strip("[]")
            best[kind] = {}
        elif kind and "=" in line:
            item, _, gain = line.rpartition(" = ")
            best[kind][item.strip('"')] = float(gain)
    return best


def share_kept(answer: dict[str, Any], gains: dict[str, float]) -> float:
    best = sum(math.log(gain) for gain in gains.values())
    proved = math.log(answer["speedup"]["expected"]) if answer["proved"] else 0.0
    return proved / best if best > 0 else float(proved == 0)


def print_kept(program: str, kinds: list[str], budget: str) -> None:
    best, shares = read_best(), []
    print(f"{'training':18} {'best':>6} {'kept':>6} {'share':>6} {'took':>6}  fixes that stayed; without time")
    for kind in kinds:
        answer = optimize(program, kind, "--budget", budget)
        gains = best.get(kind)
        share = None if gains is None else share_kept(answer, gains)
        if share is not None:
            shares.append(share)
        product = math.prod(gains.values()) if gains is not None else math.nan
        kept = answer["speedup"]["expected"] if answer["proved"] else 1.0
        stayed = ", ".join(trial["fix"] for trial in answer["applied"]) or "none"
        untried = ", ".join(trial["fix"] for trial in answer["untried"])
        words = "     -" if share is None else f"{share:6.2f}"
        print(
            f"{kind:18} {product:6.2f} {kept:6.2f} {words} {answer['took_s']:5.0f}s  {stayed}; {untried or 'none'}",
            flush=True,
        )
    if shares:
        print(f"median share of {len(shares)}: {statistics.median(shares):.2f}, at {budget}")


def main() -> None:
    from small_trainings import KINDS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("what", choices=("best", "kept"))
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--budget", default="4m")
    given = parser.parse_intermixed_args()
    kinds = given.kinds or list(KINDS)
    program = str(Path(given.program).resolve())
    if given.what == "kept":
        print_kept(program, kinds, given.budget)
        return
    best = read_best()
    for kind in kinds:
        best[kind] = best_of(program, kind)
        write_best(best)


if __name__ == "__main__":
    main()
