#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data inside HTML reports against the program's other outputs: the findings are those of `analyze --json`, and every
row of every table is a row of the same table of `gapless query`.

usage: html_report.py PROGRAM [FILE...]    without files: those of tests/data, samples/ and, where it is, a part of the corpus
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT

DATA = re.compile(rb'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
EVERY = 6  # of the corpus' recordings, one in so many
MOST_BYTES = 3_000_000  # of a report on a recording of up to 250,000 events


def run(program: str, *arguments: str) -> bytes:
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def recordings() -> list[Path]:
    found = [ROOT / "samples/resnet50_v100.pt.trace.json.gz", ROOT / "tests/data/two_ranks"]
    found += [ROOT / "tests/data" / name for name in ("cpu_only.json", "hostile.json", "truncated.json", "broken_rank")]
    if not (FOLDER / "kineto").is_dir():
        print(f"no recordings in {FOLDER}: only those of the project are compared")
    files = sorted(path for path in (FOLDER / "kineto").rglob("*.json*") if path.is_file())
    return [*found, *files[::EVERY]]


def rows_of(table: dict[str, Any], texts: list[str]) -> list[dict[str, Any]]:
    columns = table["columns"]
    for column, cells in zip(columns, table["cells"]):
        if column["type"] == "text":
            cells[:] = [None if cell is None else texts[cell] for cell in cells]
    names = [column["name"] for column in columns]
    return [dict(zip(names, row)) for row in zip(*table["cells"])]


def key(row: dict[str, Any]) -> str:
    """The row as one text. The page cuts texts of more than 1000 columns, so only their beginnings count."""
    return json.dumps(
        {name: cell[:990] if isinstance(cell, str) else cell for name, cell in row.items()}, sort_keys=True
    )


def compare(program: str, path: Path) -> tuple[int, list[str]]:
    """Returns how many rows were compared, and what differs."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.html")
        command = [program, "analyze", str(path), "-o", str(file)]
        if subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode != 0:
            return 0, []  # not a recording: there is no report to compare
        page = file.read_bytes()
    found = DATA.findall(page)
    if len(found) != 1:
        return 0, [f"{len(found)} blocks of data"]
    data = json.loads(found[0])
    problems = []
    if data["analyze"] != json.loads(run(program, "analyze", str(path), "--json")):
        problems.append("the findings differ from analyze --json")
    events = sum(trace["event_count"] for trace in data["analyze"]["traces"])
    if events <= 250_000 and len(page) > MOST_BYTES:
        problems.append(f"{len(page):,} bytes for {events:,} events")
    compared = 0
    for table in data["tables"]:
        there = json.loads(run(program, "query", str(path), f"SELECT * FROM {table['name']}", "--json"))
        here = rows_of(table, data["texts"])
        compared += len(here)
        if table["rows"] != len(there):
            problems.append(f"{table['name']}: {table['rows']} rows, SQL has {len(there)}")
        unknown = Counter(map(key, here)) - Counter(map(key, there))
        if unknown:
            problems.append(f"{table['name']}: {len(unknown)} rows that SQL does not have, e.g. {next(iter(unknown))}")
    return compared, problems


def main() -> int:
    program = sys.argv[1]
    paths = [Path(argument) for argument in sys.argv[2:]] or recordings()
    reports = rows = failures = 0
    for path in paths:
        compared, problems = compare(program, path)
        reports += compared > 0
        rows += compared
        failures += len(problems)
        for problem in problems:
            print(f"{path}: {problem}")
    print(f"{reports} reports of {len(paths)} files, {rows:,} rows compared, {failures} failures")
    return 1 if failures or not reports else 0


if __name__ == "__main__":
    sys.exit(main())
