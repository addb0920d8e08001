#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what is read of Nsight's files against what NVIDIA's own tools say about the same recordings.

nsys: kernels, CUDA calls, copies and memsets of every .sqlite, by name: how many and how long, against `nsys stats`.
ncu: every number of the raw page (in printed and in base units), against the values of the ncu_report library. Every metric
and rule of a report itself (.ncu-rep), against that library and against both pages.

usage: oracle_nsight.py PROGRAM
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import corpus
from oracle import ask

Totals = dict[str, tuple[int, int]]  # of each name: how many, ns
ASTRAY = "SELECT count(*) AS n FROM all_gpu_op g JOIN all_slice s ON s.id = g.launch_id WHERE g.pid <> s.pid"
NUMBERS = "SELECT launch_index AS launch, metric, value FROM kernel_metric WHERE value IS NOT NULL"
METRICS = "SELECT launch_index AS launch, kernel_name AS kernel, metric, value, text, unit FROM kernel_metric"
COPIES = {"htod": "h2d", "dtoh": "d2h", "dtod": "d2d"}


def grouped(program: str, path: Path, column: str, where: str, table: str) -> Totals:
    sql = f"SELECT {column} AS name, count(*) AS n, sum(dur_ns) AS ns FROM all_{table} WHERE {where} GROUP BY 1"
    rows, problem = ask(program, str(path), sql)
    if rows is None:
        raise SystemExit(f"{path}: {problem}")
    return {row["name"]: (row["n"], row["ns"]) for row in rows}


def stats(folder: Path, report: str, count: str) -> list[tuple[str, int, int]] | None:
    """(name, how many, ns) of each row; None: nsys gave no such answer."""
    path = folder / f"{report}.csv"
    if not path.exists():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get(count)]
    name = "Name" if rows and "Name" in rows[0] else "Operation"
    return [(row[name], int(row[count]), int(row["Total Time (ns)"])) for row in rows]


def without_version(call: str) -> str:
    return re.sub(r"_v\d+$", "", call)


def merged(rows: list[tuple[str, int, int]]) -> Totals:
    totals: Totals = {}
    for name, count, ns in rows:
        before = totals.get(name, (0, 0))
        totals[name] = (before[0] + count, before[1] + ns)
    return totals


def differences(what: str, expected: Totals, actual: Totals) -> list[str]:
    return [
        f"{what} {name[:60]}: {actual.get(name)}, nsys says {expected.get(name)}"
        for name in sorted(expected.keys() | actual.keys())
        if expected.get(name) != actual.get(name)
    ]


def check_nsys(program: str, failures: list[str]) -> int:
    checked = 0
    for folder in sorted((corpus.FOLDER / "oracle" / "nsys").rglob("*.sqlite.d")):
        recording = corpus.FOLDER / "nsys" / folder.relative_to(corpus.FOLDER / "oracle" / "nsys").with_suffix("")
        # Made up by others, with a kernel that starts at 0: left out here, counted by nsys stats (not by nsys analyze).
        if recording.name.startswith("healthy") or not recording.exists():
            continue

        kernels = stats(folder, "cuda_gpu_kern_sum", "Instances")
        found = differences(
            "kernel", merged(kernels or []), grouped(program, recording, "name", "kind = 'kernel'", "gpu_op")
        )
        calls = [(without_version(name), n, ns) for name, n, ns in stats(folder, "cuda_api_sum", "Num Calls") or []]
        where = "category IN ('runtime', 'driver')"
        found += differences("call", merged(calls), grouped(program, recording, "name", where, "slice"))
        times = stats(folder, "cuda_gpu_mem_time_sum", "Count") or []
        copies: list[tuple[str, int, int]] = []
        for name, count, ns in times:
            words = re.findall(r"memcpy (\w+)-to-(\w+)", name)
            kind = COPIES[f"{words[0][0][0]}to{words[0][1][0]}".lower()] if words else "memset"
            copies.append((kind, count, ns))
        kind = "CASE kind WHEN 'memset' THEN 'memset' ELSE substr(copy_kind, 1, 3) END"
        found += differences("copy", merged(copies), grouped(program, recording, kind, "kind <> 'kernel'", "gpu_op"))
        rows, _ = ask(program, str(recording), ASTRAY)
        if rows is None or rows[0]["n"] != 0:
            found.append("operations are joined with launches of another process")
        failures += [f"{recording.name}: {text}" for text in found]
        checked += 3
    return checked


def values_of(report: dict[str, Any]) -> Counter[tuple[int, str, float]]:
    """Returns, for each launch, every metric that is a finite number."""
    found: Counter[tuple[int, str, float]] = Counter()
    for index, action in enumerate(report["actions"]):
        for metric, value in zip(report["metric_names"], action["values"]):
            if isinstance(value, (int, float)) and math.isfinite(value):
                found[(index, metric, float(value))] += 1
    return found


def check_ncu(program: str, failures: list[str]) -> int:
    checked = 0
    for answers in sorted((corpus.FOLDER / "oracle" / "ncu").rglob("*.metrics.json")):
        report = json.loads(answers.read_text(encoding="utf-8"))
        expected = {(launch, metric): value for launch, metric, value in values_of(report)}
        for page, tolerance in (("raw", 1e-2), ("raw-base-units", 1e-5)):
            path = answers.with_name(answers.name.replace(".metrics.json", f".{page}.csv.gz"))
            rows, problem = ask(program, str(path), NUMBERS)
            if rows is None:
                failures.append(f"{path.name}: {problem}")
                continue
            for row in rows:
                value = expected.get((row["launch"], row["metric"]))
                if value is None:
                    continue
                checked += 1
                # ncu prints two decimals or six digits
                if abs(row["value"] - value) > max(abs(value) * tolerance, 0.0051):
                    said = f"{row['value']}, ncu_report says {value}"
                    failures.append(f"{path.name}: launch {row['launch']} {row['metric']}: {said}")
    return checked


def rows_of(program: str, path: Path, failures: list[str]) -> list[dict[str, Any]]:
    rows, problem = ask(program, str(path), METRICS)
    if rows is None:
        failures.append(f"{path.name}: {problem}")
    return rows or []


def is_there(value: Any) -> bool:
    return value not in (None, "", "nan", "inf", "-inf")


def against_library(answers: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """Differences between the rows of a report and what the library says: no value more, none less, none other."""
    said = {
        (index, metric): value if isinstance(value, str) else float(value)
        for index, action in enumerate(answers["actions"])
        for metric, value in zip(answers["metric_names"], action["values"])
        if is_there(value)
    }
    read = {(row["launch"], row["metric"]): row["value"] if row["text"] is None else row["text"] for row in rows}
    known = set(answers["metric_names"])
    read = {key: value for key, value in read.items() if key[1] in known}
    return [
        f"{key}: {read.get(key)}, ncu_report says {said.get(key)}"
        for key in {**said, **read}
        if said.get(key) != read.get(key)
    ]


def against_table(table: list[dict[str, Any]], report: list[dict[str, Any]]) -> list[str]:
    """Rows of the page with base units that the report has not, or otherwise; values are printed with two decimals."""
    rows = {(row["launch"], row["metric"]): row for row in report}
    found = []
    for row in table:
        own = rows.get((row["launch"], row["metric"]))
        same = own is not None and all(own[key] == row[key] for key in ("kernel", "text", "unit"))
        if (
            own is None
            or not same
            or (own["value"] is None) != (row["value"] is None)
            or own["value"] is not None
            and abs(own["value"] - row["value"]) > max(abs(own["value"]) * 1e-5, 0.0051)
        ):
            found.append(f"{row}, the report has {own}")
    return found


def rules_of(rows: list[dict[str, Any]]) -> list[tuple[int, str, str, float | None]]:
    return [
        (row["launch"], row["metric"], row["text"], row["value"] if row["value"] is None else round(row["value"], 2))
        for row in rows
        if row["metric"].startswith("rule:")
    ]


def check_reports(program: str, failures: list[str]) -> int:
    checked = 0
    for path in sorted((corpus.FOLDER / "ncu").rglob("*.ncu-rep*")):
        answers = corpus.FOLDER / "oracle" / path.relative_to(corpus.FOLDER)
        if not answers.with_name(answers.name + ".metrics.json").exists():
            continue
        rows = rows_of(program, path, failures)
        said = json.loads(answers.with_name(answers.name + ".metrics.json").read_text(encoding="utf-8"))
        found = against_library(said, rows)
        table = rows_of(program, answers.with_name(answers.name + ".raw-base-units.csv.gz"), failures)
        found += against_table(table, rows)
        printed = rules_of(rows_of(program, answers.with_name(answers.name + ".details.csv.gz"), failures))
        if rules_of(rows) != printed:
            found.append(f"{len(rules_of(rows))} rules, ncu prints {len(printed)}")
        failures += [f"{path.name}: {text}" for text in found]
        checked += len(rows)
    return checked


def main() -> int:
    corpus.require()
    failures: list[str] = []
    tables, metrics = check_nsys(sys.argv[1], failures), check_ncu(sys.argv[1], failures)
    rows = check_reports(sys.argv[1], failures)
    print(*failures[:30], sep="\n")
    compared = f"{tables} tables of nsys, {metrics} values of ncu and {rows} rows of its reports compared"
    print(f"{compared}, {len(failures)} differences")
    return 1 if failures or 0 in (tables, metrics, rows) else 0


if __name__ == "__main__":
    sys.exit(main())
