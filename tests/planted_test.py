#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The planted cause comes first: recordings of tests/simulator/scenes.py, many of each kind, and what the report says of them.

usage: planted_test.py PROGRAM [--recordings N] [--scene NAME] [--keep FOLDER]

At least 97 % must have an accepted rule first, an accepted class, the right figures and no finding that would be wrong (WANTED).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from simulator.scenes import SCENES, Expected, Recording

WANTED = 0.97
RECORDINGS = 500


def wrong(expected: Expected, report: dict[str, Any]) -> list[str]:
    run, found = report["run"], [finding["id"] for finding in report["bottlenecks"]]
    said = []
    if expected.first and (not found or found[0] not in expected.first):
        said.append(f"first is {found[0] if found else 'nothing'}, not {' or '.join(expected.first)}")
    if expected.classes and run.get("class") not in expected.classes:
        said.append(f"class {run.get('class')}, not {' or '.join(expected.classes)}")
    if expected.workload and run.get("workload") != expected.workload:
        said.append(f"workload {run.get('workload')}, not {expected.workload}")
    if len(report.get("breakdown", [])) != expected.devices:
        said.append(f"{len(report.get('breakdown', []))} devices, not {expected.devices}")
    if expected.steps is not None and run.get("steps", 0) != expected.steps:
        said.append(f"{run.get('steps', 0)} steps, not {expected.steps}")
    if expected.busy and not expected.busy[0] <= run.get("gpu_busy_share", -1) <= expected.busy[1]:
        said.append(f"busy {run.get('gpu_busy_share')}, not {expected.busy}")
    return said + [f"{rule} is reported" for rule in expected.never if rule in found]


def check(program: Path, folder: Path, number: int, name: str) -> list[str]:
    run = Recording()
    expected = SCENES[name](random.Random(f"{number} {name}"), run)
    run.write(folder)
    for path in folder.iterdir():
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * expected.cut_at)])
    command = [str(program), "analyze", str(folder), "--json", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.strip()}"]
    return wrong(expected, json.loads(done.stdout))


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", type=Path)
    arguments.add_argument("--recordings", type=int, default=RECORDINGS)
    arguments.add_argument("--scene", choices=sorted(SCENES))
    arguments.add_argument("--keep", type=Path)
    options = arguments.parse_args()
    names = [options.scene] if options.scene else list(SCENES)
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = options.keep or Path(temporary)
        numbered = [(number, names[number % len(names)]) for number in range(options.recordings)]
        answers = pool.map(lambda case: check(options.program, folder / f"{case[0]}_{case[1]}", *case), numbered)
        failed: Counter[str] = Counter()
        for (number, name), said in zip(numbered, answers):
            if said:
                failed[name] += 1
                print(f"{number} {name}: {'; '.join(said)}")
    good = options.recordings - sum(failed.values())
    print(f"{good} of {options.recordings} recordings as planted ({good / options.recordings:.1%}), {len(names)} kinds")
    for name, count in failed.most_common():
        print(f"  {name}: {count} wrong")
    return 0 if good >= WANTED * options.recordings else 1


if __name__ == "__main__":
    sys.exit(main())
