#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do predictions from typical steps differ from those of all steps?

usage: typical_steps.py PROGRAM RECORDING...

Each recording is predicted and analysed twice, as it is by default and with --all-steps. A recording of which all steps are replayed
anyway is skipped. Printed are a row per recording and, over all fixes of all recordings, the median, the 95th percentile and the worst
difference of the expected gain, and how often the value from all steps lies in the interval from typical ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def run(program: str, verb: str, path: str, *words: str) -> tuple[dict[str, Any], float]:
    began = time.perf_counter()
    done = subprocess.run([program, verb, path, "--json", *words], capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    return (json.loads(done.stdout) if done.stdout.startswith("{") else {}), took


def gains_of(predicted: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The speedup of each fix that has one."""
    return {
        ",".join(prediction["what"]): prediction["speedup"]
        for prediction in predicted.get("predictions", [])
        if "speedup" in prediction and not prediction.get("no_effect")
    }


def order_of(analysis: dict[str, Any]) -> list[str]:
    return [str(finding["id"]) for finding in analysis.get("bottlenecks", [])]


def compare(program: str, path: str) -> tuple[str, list[tuple[float, bool]]] | None:
    some, took = run(program, "predict", path)
    if "steps_replayed" not in some:
        return None
    every, all_took = run(program, "predict", path, "--all-steps")
    quick, slow = gains_of(some), gains_of(every)
    differences = [
        (
            abs(quick[what]["expected"] / slow[what]["expected"] - 1),
            quick[what]["low"] <= slow[what]["expected"] <= quick[what]["high"],
        )
        for what in quick
        if what in slow
    ]
    same = order_of(run(program, "analyze", path)[0]) == order_of(run(program, "analyze", path, "--all-steps")[0])
    worst = max((off for off, _ in differences), default=0.0)
    steps = f"{some['steps_replayed']} of {some['steps']}"
    row = f"| {Path(path).name} | {steps} | {len(differences)} | {100 * worst:.2f} % | {'same' if same else 'changed'} "
    return row + f"| {took:.2f} | {all_took:.2f} |", differences


def quantile(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    print("| recording | steps replayed | fixes | worst difference | order of findings | s | s, all steps |")
    print("|---|---|---|---|---|---|---|")
    differences: list[tuple[float, bool]] = []
    skipped = 0
    for path in sys.argv[2:]:
        compared = compare(sys.argv[1], path)
        if compared is None:
            skipped += 1
            continue
        print(compared[0], flush=True)
        differences += compared[1]
    offs = sorted(off for off, _ in differences)
    if offs:
        inside = sum(within for _, within in differences)
        print(
            f"\n{len(offs)} fixes: median {100 * quantile(offs, 0.5):.2f} %, 95th percentile {100 * quantile(offs, 0.95):.2f} %, "
            f"worst {100 * offs[-1]:.2f} %; {inside} of {len(offs)} within the interval from typical steps"
        )
    print(f"{skipped} recordings with few steps or events, of which all are replayed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
