#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts recordings to Chrome JSON and reads them back: every table and every number of the report must be as before.

usage: convert_round_trip.py PROGRAM [--all | PATH...]

Without paths: the project's own recordings and some of the corpus, which together have every kind of row; --all takes every
file and every folder of ranks of the corpus. A recording of one rank goes through one file, several ranks through a folder.
The documents are held against what viewers need, too: valid JSON, the fields of each phase, arrows with both ends, nothing
that begins without an end, and slices of ours that nest.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import corpus

Document = dict[str, Any]

RECORDED = (
    *("slice", "gpu_op", "gpu_annotation", "sync", "collective", "flow", "counter", "memory_event"),
    *("step", "thread", "device"),
)
DERIVED = ("idle", "ledger", "queue", "communication", "operators")
# Facts that a converted file cannot state: its own name and size, and what was wrong with the bytes of the one before it.
REPORT_ONLY = ("read_stats", "failures", "warnings", "next")
TRACE_ONLY = ("path", "event_count")

OWN = (
    "samples/resnet50_v100.pt.trace.json.gz",
    "tests/data/two_ranks",
    "tests/data/truncated.json",
    "tests/data/hostile.json",
    "tests/data/cpu_only.json",
)
HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
CHOSEN = (
    f"{HTA}/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",  # collectives on the host
    f"{HTA}/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz",  # waits of streams
    f"{HTA}/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz",
    f"{HTA}/nccl_parser_config/nccl_data.json.gz",  # collectives with groups, fwdbwd arrows, annotations on the device
    f"{HTA}/timeline_analysis/sampled_rank-0.json.gz",
    "AMD-AGI__TraceLens/tests/traces/mi300/Falconsai_nsfw_image_detection__1016002.json.gz",  # Python frames, memory
    "AMD-AGI__TraceLens/tests/traces/mi210/gpu_only_trace/gpu_only_trace.json.gz",  # no host side
    "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz",  # eight ranks
    "pytorch__kineto/tb_plugin/test/gpu_metrics_input.json",
)


def run(program: str, *arguments: str) -> tuple[bytes, str]:
    """Standard output; what was wrong, if it failed."""
    done = subprocess.run([program, *arguments], capture_output=True, check=False)
    return done.stdout, "" if done.returncode == 0 else done.stderr.decode(errors="replace").strip()


def report(program: str, path: str) -> tuple[Document, str]:
    out, problem = run(program, "analyze", path, "--json")
    if problem:
        return {}, problem
    found: Document = json.loads(
        out.replace(b".json.gz", b".json")
    )  # evidence may name the file, which is compressed now
    for key in REPORT_ONLY:
        found.pop(key, None)
    for trace in found["traces"]:
        for key in TRACE_ONLY:
            trace.pop(key, None)
    return found, ""


def first_difference(a: object, b: object, where: str = "") -> str:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if a.get(key) != b.get(key):
                return first_difference(a.get(key), b.get(key), f"{where}.{key}")
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return first_difference(x, y, f"{where}[{i}]")
    return f"{where}: was {str(a)[:200]}, is {str(b)[:200]}"


def rows_differ(before: bytes, after: bytes) -> str:
    was, is_now = before.splitlines(), after.splitlines()
    pairs = [(a, b) for a, b in zip(was, is_now) if a != b]
    first = f"; first was {pairs[0][0][:300]!r}, is {pairs[0][1][:300]!r}" if pairs else ""
    return f"{len(was)} and {len(is_now)} lines, {len(pairs)} differ{first}"


def nesting_problems(events: list[Document]) -> list[str]:
    """Slices of one thread that overlap without nesting are cut by viewers; ours never do."""
    threads: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events:
        if event.get("cat") == "gapless" and event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
    problems = []
    for thread, spans in threads.items():
        ends: list[float] = []
        for start, dur in sorted(spans, key=lambda span: (span[0], -span[1])):
            while ends and ends[-1] <= start + 1e-3:  # times are read as doubles here
                ends.pop()
            if ends and start + dur > ends[-1] + 1e-3:
                problems.append(f"slices of {thread} overlap at {start}")
            ends.append(start + dur)
    return problems


def document_problems(path: Path) -> list[str]:
    """Returns where the file lacks what chrome://tracing and Perfetto need."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        events = json.loads(file.read())["traceEvents"]
    problems = nesting_problems(events)
    arrows: Counter[tuple[str, int]] = Counter()
    for event in events:
        phase = event["ph"]
        if phase not in "XiCsfM" or not isinstance(event["pid"], int) or not isinstance(event["tid"], int):
            problems.append(f"no event: {event}")
        if phase != "M" and not isinstance(event["ts"], (int, float)):
            problems.append(f"no time: {event}")
        if phase == "X" and not event["dur"] >= 0:
            problems.append(f"no duration: {event}")
        if phase in "sf":
            arrows[event["cat"], event["id"]] += 1 if phase == "s" else -1
    problems += [f"arrow without its other end: {key}" for key, left in arrows.items() if left]
    return [f"{path.name}: {problem}" for problem in problems[:3]]


def check(program: str, path: str, folder: Path) -> list[str] | None:
    """Returns what differs; None: nothing could be read in the first place."""
    before, problem = report(program, path)
    if problem:
        return None
    several = len(before["traces"]) > 1
    out = folder / ("ranks" if several else "out.json")
    _, problem = run(program, "convert", path, "-o", f"{out}/" if several else str(out))
    if problem:
        return [f"convert: {problem}"]
    problems = [p for file in (sorted(out.iterdir()) if several else [out]) for p in document_problems(file)]
    after, problem = report(program, str(out))
    if before != after:
        problems.append(f"the report differs: {problem or first_difference(before, after)}")
    for table in (*RECORDED, *DERIVED):
        sql = f"SELECT * FROM {'all_' if table in RECORDED else ''}{table}"
        (was, no_rows), (is_now, no_rows_now) = (
            run(program, "query", where, sql, "--csv") for where in (path, str(out))
        )
        if no_rows or no_rows_now or not was:
            problems.append(f"table {table}: {no_rows or no_rows_now or 'no columns'}")
        elif was != is_now:
            problems.append(f"table {table}: {rows_differ(was, is_now)}")
    return problems


def recordings(chosen: list[str]) -> list[str]:
    if chosen and chosen != ["--all"]:
        return chosen
    folder = corpus.FOLDER / "kineto"
    if not chosen:
        return [*OWN, *(str(folder / path) for path in CHOSEN if folder.is_dir())]
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    folders = sorted({path.parent for path in files if sum(other.parent == path.parent for other in files) > 1})
    return [*OWN, *map(str, files), *map(str, folders)]


def main() -> int:
    program, paths = os.path.abspath(sys.argv[1]), recordings(sys.argv[2:])
    failures = unread = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = folder
            problems = check(program, path, Path(folder))
        unread += problems is None
        failures += bool(problems)
        if problems:
            print(path, *problems, sep="\n  ", flush=True)
    print(f"{len(paths) - unread} recordings converted and read back, {unread} unreadable, {failures} differ")
    if failures:
        return 1
    if not sys.argv[2:]:
        corpus.require()
    return 0


if __name__ == "__main__":
    sys.exit(main())
