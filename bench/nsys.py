#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times reading an export of Nsight Systems against a walk over the columns that are used, in turn, and prints the ratios.

    bench/nsys.py BUILD_DIR [--kernels 1000000] [--rounds 3]

The input is made once under BUILD_DIR/bench/input: kernels and their launches, a thousand to a step. Also the same recording as a
report, by the writer of tests/data. Every figure is of a whole process.
"""

from __future__ import annotations

import argparse
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/data"))
import make_nsys_report as report
from make_nsys_sample import SCHEMA, global_pid

PER_STEP, PID = 1000, 100
TID = global_pid(PID) | PID
TEXTS = ["", "cudaLaunchKernel_v7000", *(f"void kernel_{i}<float, {i}>(float*, float const*, int)" for i in range(60))]


def kernels(count: int) -> list[tuple[int, int, int, int]]:
    """(launched, begun, number, text of the name) of each, in ns."""
    return [(1000 + i * 20_000, 9000 + i * 20_000, i + 1, 2 + i % 60) for i in range(count)]


def make_export(path: pathlib.Path, count: int) -> None:
    db = sqlite3.connect(path)
    db.executescript(SCHEMA.replace("page_size = 1024", "page_size = 4096").split("CREATE VIEW")[0])
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(TEXTS))
    db.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2023.4.4.54')")
    db.executemany(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 1, 0)",
        ((at, at + 5000, TID, i) for at, _, i, _ in kernels(count)),
    )
    db.executemany(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, ?, ?, 32, 64, 1, 1, 256, 1, 1, 0, 1024)",
        ((at, at + 15_000, i, global_pid(PID), name, name) for _, at, i, name in kernels(count)),
    )
    db.execute("CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (hwId INTEGER, vmId INTEGER, processId INTEGER)")
    db.execute("INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (0, 1, ?)", (PID,))
    span = PER_STEP * 20_000
    db.executemany(
        "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL)",
        ((i * span, (i + 1) * span, f"step {i}", TID) for i in range(count // PER_STEP)),
    )
    db.commit()
    db.close()


def make_report(path: pathlib.Path, count: int) -> None:
    shape = ((10, 64), (11, 1), (12, 1), (13, 256), (14, 1), (15, 1), (16, 0), (17, 1024), (21, 32))
    blocks, events, total = [], [], 0
    for launched, begun, i, name in kernels(count):
        events.append(report.call(launched, launched + 5000, 0, TID, 1, (3, i)))
        own = (101, report.message((1, name), (2, name), *shape))
        events.append(report.work(79, begun, begun + 15_000, 7, i, PID, own))
        if i % PER_STEP == 0:
            at, span = i // PER_STEP - 1, PER_STEP * 20_000
            text = (7, f"step {at}")
            events.append(report.event(59, 102, (1, 59), (2, at * span), (10, (at + 1) * span), (9, TID), text))
        if i % (4 * PER_STEP) == 0 or i == count:
            total += len(events)
            blocks.append(report.block(b"".join(report.message((1, one)) for one in events)))
            events = []
    index = report.message((1, total), (3, len(TEXTS)), (5, 0), (15, 0))
    head = report.varint(0) + report.varint(len(index)) + index + b"".join(blocks)
    tail = report.block(b"".join(report.message((1, text)) for text in TEXTS)) + report.varint(0) * 2
    sections = [
        ("Raw Sampling Data", b"QDTEXT00" + head + tail),
        ("Sampling Data Offsets", report.message((1, "lz4"), (2, len(head)))),
        ("UI Data", report.message((6, "2023.4.4.54"))),
    ]
    path.write_bytes(report.container(sections))


def seconds(words: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    folder = given.build / "bench/input"
    folder.mkdir(parents=True, exist_ok=True)
    export, own = folder / f"{given.kernels}.sqlite", folder / f"{given.kernels}.nsys-rep"
    for path, make in ((export, make_export), (own, make_report)):
        if not path.exists():
            make(path, given.kernels)
    programs = given.build / "bench"
    analyze = [str(given.build / "gapless"), "analyze", "--no-cache", "--json"]
    commands = {
        "walk": [str(programs / "nsys_walk"), str(export)],
        "tables": [str(programs / "tables"), str(export)],
        "analyze": [*analyze, str(export)],
        "tables, report": [str(programs / "tables"), str(own)],
        "analyze, report": [*analyze, str(own)],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(given.rounds):
        for name, words in commands.items():
            taken[name].append(seconds(words))
    aims = {"tables": "≤ 1.5", "analyze": "≤ 2.5"}
    print(f"{given.kernels:,} kernels and their launches, {given.rounds} rounds in turn (medians)\n")
    print("| what | s | against the walk | aim |\n|---|---|---|---|")
    for name, times in taken.items():
        ratio = statistics.median(time / walk for time, walk in zip(times, taken["walk"]))
        print(f"| {name} | {statistics.median(times):.2f} | {ratio:.2f} | {aims.get(name, '')} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
