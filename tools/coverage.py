#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line coverage of src/ after the tests of an instrumented build: tools/coverage.py BUILD_FOLDER LOWEST_PERCENT

The programs of such a build (cmake/Flavours.cmake) leave their counts in BUILD_FOLDER/profiles; llvm-cov adds them up. Sources
of tests and benchmarks are left out. Prints the rooms and the files with most lines missed, writes every file to
BUILD_FOLDER/coverage.txt, and exits 1 below the limit.
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_OURS = r"_(test|bench)\.cc$|/testing/"
Counts = tuple[int, int]  # lines missed, lines


def programs(build: pathlib.Path) -> list[pathlib.Path]:
    """The program and those of the tests."""
    return [p for p in sorted(build.glob("test_*")) + [build / "gapless"] if p.is_file() and os.access(p, os.X_OK)]


def counts_of(build: pathlib.Path) -> dict[str, Counts]:
    """Returns the counts of every file of src/, by its path from the root."""
    merged = build / "coverage.profdata"
    raw = [str(p) for p in sorted((build / "profiles").glob("*.profraw"))]
    subprocess.run(["llvm-profdata-16", "merge", "-sparse", "-failure-mode=all", "-o", str(merged), *raw], check=True)
    first, *others = map(str, programs(build))
    command = [
        "llvm-cov-16",
        "export",
        "-summary-only",
        f"-instr-profile={merged}",
        f"-ignore-filename-regex={NOT_OURS}",
    ]
    command += [first, *(f"-object={p}" for p in others)]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    result = {}
    for file in report["data"][0]["files"]:
        name, lines = file["filename"].removeprefix(f"{ROOT}/"), file["summary"]["lines"]
        if re.match(r"src/.*\.(cc|h)$", name) and lines["count"]:
            result[name] = (lines["count"] - lines["covered"], lines["count"])
    return result


def row(name: str, missed: int, lines: int) -> str:
    return f"{100 * (lines - missed) / lines:6.1f} % {missed:5} of {lines:5} missed  {name}"


def main(build: pathlib.Path, lowest: float) -> int:
    files = counts_of(build)
    texts = [row(name, *files[name]) for name in sorted(files, key=lambda n: -files[n][0])]
    rooms: dict[str, Counts] = collections.defaultdict(lambda: (0, 0))
    for name, (missed, lines) in files.items():
        room = "/".join(name.split("/")[:2])
        rooms[room] = (rooms[room][0] + missed, rooms[room][1] + lines)
    (build / "coverage.txt").write_text("\n".join(texts) + "\n")
    print("\n".join([row(name, *rooms[name]) for name in sorted(rooms)] + [""] + texts[:10]))
    missed, every = (sum(c[i] for c in files.values()) for i in (0, 1))
    percent = 100 * (every - missed) / every if every else 0
    print(
        f"line coverage of src/: {percent:.1f} % ({every - missed} of {every} lines), at least {lowest:g} % is wanted"
    )
    return 0 if percent >= lowest else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])))
