#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line coverage of src/ after the tests of an instrumented build: tools/coverage.py BUILD_FOLDER LOWEST_PERCENT

Asks gcov for each object's counts as JSON and adds them up per line; sources of tests and benchmarks are left out. Prints the
total and the files with most lines missed, writes every file to BUILD_FOLDER/coverage.txt, and exits 1 below the limit.
(gcovr 5, which Debian 12 has, parses gcov's text output of every header and takes several minutes for the same.)
"""

from __future__ import annotations

import collections
import json
import multiprocessing.pool
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = re.compile(r"^src/.*\.(?:cc|h)$")
NOT_OURS = re.compile(r"_(?:test|bench)\.cc$")

Lines = collections.Counter[int]  # times each line was run


def counts_of(gcda: pathlib.Path) -> list[tuple[str, Lines]]:
    """Of the files of src/ in one object."""
    command = ["gcov", "--json-format", "--stdout", "--relative-only", "--source-prefix", str(ROOT), str(gcda)]
    output = subprocess.run(command, cwd=gcda.parent, capture_output=True, text=True, check=True).stdout
    result = []
    for document in output.splitlines():
        for file in json.loads(document)["files"]:
            name = file["file"].removeprefix(f"{ROOT}/")
            if OURS.match(name) and not NOT_OURS.search(name):
                lines: Lines = collections.Counter()
                for line in file["lines"]:
                    lines[line["line_number"]] += line["count"]
                result.append((name, lines))
    return result


def add_up(build: pathlib.Path) -> dict[str, Lines]:
    total: dict[str, Lines] = collections.defaultdict(collections.Counter)
    with multiprocessing.pool.ThreadPool(os.cpu_count()) as pool:
        for counts in pool.imap_unordered(counts_of, sorted(build.rglob("*.gcda"))):
            for file, lines in counts:
                total[file].update(lines)
    return total


def main(build: pathlib.Path, lowest: float) -> int:
    rows = []
    for file, lines in ((f, n) for f, n in add_up(build).items() if n):
        rows.append((sum(1 for n in lines.values() if n == 0), len(lines), file))
    rows.sort(reverse=True)
    texts = [
        f"{100 * (all_ - missed) / all_:6.1f} % {missed:5} of {all_:5} missed  {file}" for missed, all_, file in rows
    ]
    (build / "coverage.txt").write_text("\n".join(texts) + "\n")
    print("\n".join(texts[:10]))
    missed, every = sum(r[0] for r in rows), sum(r[1] for r in rows)
    percent = 100 * (every - missed) / every if every else 0
    print(
        f"line coverage of src/: {percent:.1f} % ({every - missed} of {every} lines), at least {lowest:g} % is wanted"
    )
    return 0 if percent >= lowest else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])))
