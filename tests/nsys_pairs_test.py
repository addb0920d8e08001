#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Systems against the exports of the same recordings: every table has the same rows.

Pairs are a report (.nsys-rep, .qdrep) and, beside it, an export (.sqlite) of the same name: one that is made up in tests/data, those
in the folder nsys of $GAPLESS_CORPUS, and those in the folder $GAPLESS_NSYS_PAIRS. Where nsys is installed, reports without an export are exported, too.
Exports of old versions lack tables: columns that are empty in all rows of an export are not compared.

usage: nsys_pairs_test.py PROGRAM [--ci] [WORD]...   --ci: without $GAPLESS_NSYS_PAIRS and nsys; WORD: pairs whose path has it
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from corpus import FOLDER, ROOT

ENDINGS = (".nsys-rep", ".qdrep")
# Rows are numbered in the order of time, and of those at the same time in that of the file, which is another. So rows that
# are referred to are compared by what they are.
QUERIES = {
    "gpu_op": "SELECT g.*, l.name AS launch, l.ts_ns AS launched, o.name AS op FROM gpu_op g"
    " LEFT JOIN slice l ON l.id = g.launch_id LEFT JOIN slice o ON o.id = g.op_id",
    "slice": "SELECT s.*, p.name AS parent, p.ts_ns AS parent_ts FROM slice s LEFT JOIN slice p ON p.id = s.parent_id",
    "sync": "SELECT y.*, s.name AS call, s.tid, g.name AS op, g.ts_ns AS op_ts FROM sync y"
    " LEFT JOIN slice s ON s.id = y.slice_id LEFT JOIN gpu_op g ON g.id = y.waited_gpu_op_id",
    "collective": "SELECT * FROM collective",
    "step": "SELECT * FROM step",
    "thread": "SELECT * FROM thread",
    "device": "SELECT * FROM device",
    "counter": "SELECT * FROM counter",
    "sample": "SELECT s.ts_ns, s.tid, s.count, k.file, k.function, p.file AS caller_file, p.function AS caller"
    " FROM sample s JOIN stack k ON k.id = s.stack_id LEFT JOIN stack p ON p.id = k.parent_id",
    "os_call": "SELECT * FROM os_call",
    "thread_run": "SELECT * FROM thread_run",
    "trace": "SELECT format, host, pid, start_unix_ns, dur_ns FROM trace",
}
LEFT_OUT = {"id", "row", "launch_id", "op_id", "parent_id", "slice_id", "waited_gpu_op_id", "gpu_op_id"}
SHOWN = 3  # rows of a difference


def pairs(in_ci: bool) -> Iterator[tuple[Path, Path]]:
    folders = [ROOT / "tests/data", FOLDER / "nsys"]
    if (more := os.environ.get("GAPLESS_NSYS_PAIRS")) and not in_ci:
        folders.append(Path(more))
    found = [path for folder in folders for path in sorted(folder.rglob("*")) if path.name.endswith(ENDINGS)]
    yield from ((path, export) for path in found if (export := path.with_suffix(".sqlite")).is_file())
    if in_ci or (nsys := shutil.which("nsys")) is None:
        return
    for report in found:
        if report.with_suffix(".sqlite").is_file():
            continue
        with tempfile.TemporaryDirectory() as folder:
            export = Path(folder) / "export.sqlite"
            words = [nsys, "export", "--type", "sqlite", "--output", str(export), str(report)]
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                yield report, export


def rows(program: str, path: Path, sql: str) -> tuple[list[str], Counter[tuple[str, ...]]]:
    done = subprocess.run(
        [program, "query", str(path), "--no-cache", "--csv", sql], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{path}: {done.stderr}")
    head, *body = csv.reader(io.StringIO(done.stdout))
    kept = [place for place, name in enumerate(head) if name not in LEFT_OUT]
    return [head[place] for place in kept], Counter(tuple(row[place] for place in kept) for row in body)


def without(table: Counter[tuple[str, ...]], places: set[int]) -> Counter[tuple[str, ...]]:
    kept: Counter[tuple[str, ...]] = Counter()
    for row, count in table.items():
        kept[tuple("" if place in places else cell for place, cell in enumerate(row))] += count
    return kept


def same_recording(program: str, report: Path, export: Path) -> bool:
    """An export of the same name may be of another recording: then no process is in both."""
    try:
        ours, theirs = (set(rows(program, path, "SELECT pid FROM thread")[1]) for path in (report, export))
    except RuntimeError:
        return True  # which differences() reports
    return bool(ours & theirs) or not ours or not theirs


def differences(program: str, report: Path, export: Path) -> Iterator[str]:
    for table, sql in QUERIES.items():
        try:
            head, ours = rows(program, report, sql)
            _, theirs = rows(program, export, sql)
        except RuntimeError as error:
            yield str(error)
            return
        empty = {place for place in range(len(head)) if not any(row[place] for row in theirs)}
        ours = without(ours, empty)
        theirs = without(theirs, empty)
        if ours == theirs:
            continue
        yield f"{table}: {sum(ours.values())} rows in the report, {sum(theirs.values())} in the export"
        for name, more in (("report", ours - theirs), ("export", theirs - ours)):
            for row in sorted(more)[:SHOWN]:
                yield f"  only in the {name}: " + ", ".join(f"{k}={v}" for k, v in zip(head, row) if v)


def main(program: str, words: list[str]) -> int:
    in_ci = "--ci" in words
    words = [word for word in words if word != "--ci"]
    compared = failed = strange = 0
    for report, export in pairs(in_ci):
        if words and not any(word in str(report) for word in words):
            continue
        if not same_recording(program, report, export):
            strange += 1
            continue
        compared += 1
        found = list(differences(program, report, export))
        failed += bool(found)
        if found:
            print(f"{report} differs from its export:", *found, sep="\n  ")
    if not (FOLDER / "nsys").is_dir():
        print(f"without recordings of others: no folder {FOLDER / 'nsys'} (set GAPLESS_CORPUS)")
    apart = f"; {strange} lie beside the export of another recording" if strange else ""
    print(f"{compared - failed} of {compared} reports have the rows of their exports{apart}")
    return 1 if failed or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
