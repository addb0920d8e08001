#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis, gapless.compat.hta and gapless's own tables: seconds and memory of loading a folder and of five analyses.

usage: beside_hta.py FOLDER [--pairs N]

To be run by a Python that has HolisticTraceAnalysis, pandas and psutil, with `python/` of this repository in PYTHONPATH, GAPLESS_PROGRAM and
GAPLESS_LIBRARY set. Each side runs in processes of its own, in turns, without a cache; each column is a median, with how many times less than HTA's it is. Importing is not counted,
which takes seconds on either side for pandas alone. Memory is the largest sum of the proportional set sizes of a process and its children.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

MODULES = {"hta": "hta.trace_analysis", "compat": "gapless.compat.hta", "tables": "gapless"}
TABLES = ("ledger", "kernels", "communication", "idle", "launches")  # the same questions, asked of gapless itself
SAMPLE_S = 0.005


def set_size_kb(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass  # it ended meanwhile
    return 0


def family_kb(root: int) -> int:
    pids, total = [root], 0
    while pids:
        pid = pids.pop()
        total += set_size_kb(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                pids += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return total


class Peak(threading.Thread):
    """Samples the memory of this process and its children until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_kb = 0
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(SAMPLE_S):
            self.most_kb = max(self.most_kb, family_kb(os.getpid()))


def closing(total_s: float, seconds: dict[str, float], peak: Peak | None, before_kb: int) -> dict[str, Any]:
    if peak is None:
        return {"total_s": total_s, "seconds": seconds}
    peak.ended.set()
    peak.join()
    return {"memory_mb": max(0, peak.most_kb - before_kb) / 1024}


def analyse(side: str, folder: str, watch_memory: bool) -> dict[str, Any]:
    """Loads and analyses, and returns seconds by part, or the memory beyond that of the imports in MB: watching it takes time."""
    importlib.import_module("pandas")  # one side imports it late
    module = importlib.import_module(MODULES[side])
    before_kb, peak, seconds = family_kb(os.getpid()), Peak(), {}
    if watch_memory:
        peak.start()
    begun = time.perf_counter()
    if side == "tables":
        run = module.open(folder, cache=False)
        seconds["load"] = time.perf_counter() - begun
        for name in TABLES:
            part = time.perf_counter()
            run.analysis(name).to_pandas()
            seconds[name] = time.perf_counter() - part
        return closing(time.perf_counter() - begun, seconds, peak if watch_memory else None, before_kb)
    analysis = module.TraceAnalysis(trace_dir=folder)
    seconds["load"] = time.perf_counter() - begun
    ranks = analysis.t.get_ranks()
    for name, options in (
        ("get_temporal_breakdown", {}),
        ("get_gpu_kernel_breakdown", {}),
        ("get_comm_comp_overlap", {}),
        ("get_idle_time_breakdown", {"ranks": ranks}),
        ("get_cuda_kernel_launch_stats", {"ranks": ranks}),
    ):
        part = time.perf_counter()
        getattr(analysis, name)(visualize=False, **options)
        seconds[name] = time.perf_counter() - part
    return closing(time.perf_counter() - begun, seconds, peak if watch_memory else None, before_kb)


def ask(side: str, folder: str, *more: str) -> dict[str, Any]:
    """One side in a process of its own."""
    with tempfile.TemporaryDirectory() as empty:  # no cache of an earlier run
        command = [sys.executable, __file__, folder, "--side", side, *more]
        environment = os.environ | {"XDG_CACHE_HOME": empty}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{side}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def line(name: str, values: list[float], unit: str) -> str:
    """A row: HTA's value, then each other's with how many times less it is."""
    hta, *others = values
    return f"{name:30} {hta:9.3f} {unit}" + "".join(
        f"  {one:9.3f} {unit} {hta / max(one, 1e-6):6.1f}x" for one in others
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--side", choices=MODULES)
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    if options.side:
        print(json.dumps(analyse(options.side, options.folder, options.memory)))
        return 0
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in MODULES}
    for _ in range(options.pairs):
        for side, results in found.items():
            results.append(ask(side, options.folder) | ask(side, options.folder, "--memory"))
    middle = {
        side: {key: statistics.median(one[key] for one in runs) for key in ("total_s", "memory_mb")}
        for side, runs in found.items()
    }
    for number, name in enumerate(found["hta"][0]["seconds"]):
        times = [statistics.median([*one["seconds"].values()][number] for one in runs) for runs in found.values()]
        print(line(name, times, "s"))
    print(line("all", [one["total_s"] for one in middle.values()], "s"))
    print(line("memory beyond imports", [one["memory_mb"] for one in middle.values()], "MB"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
