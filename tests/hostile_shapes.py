#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings with very many of one thing take time in proportion: eight times as many take far less than 64 times as long.

usage: hostile_shapes.py PROGRAM [SHAPE...]

Processor time is compared, so that a busy machine is no failure; a tenth of a second counts as the program's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Event = dict[str, Any]
FEW, TIMES = 2000, 8
MOST_TIMES = 24  # n log n gives 9, a square 64
OWN_S = 0.1
LIMIT_S = 20


def event(name: str, category: str, ts: int, dur: int, tid: int = 1, pid: int = 1, **more: object) -> Event:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": more}


def launch(i: int, tid: int = 1, pid: int = 1) -> Event:
    return event("cudaLaunchKernel", "cuda_runtime", 10 * i, 2, tid, pid, correlation=i)


def kernel(i: int, device: int = 0, stream: int = 7, name: str = "kernel") -> Event:
    return event(name, "kernel", 10 * i + 3, 5, stream, device, device=device, stream=stream, correlation=i)


def few() -> list[Event]:
    return [event for i in range(10) for event in (launch(i), kernel(i))]


def each(n: int, of: Callable[[int], list[Event]]) -> list[Event]:
    return [event for i in range(n) for event in of(i)]


def data_marks(n: int) -> list[Event]:
    mark = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    return few() + [event(mark, "user_annotation", 100 * i, 90) for i in range(n)]


SHAPES: dict[str, Callable[[int], list[Event]]] = {
    "threads": lambda n: each(n, lambda i: [launch(i, tid=i + 1), kernel(i)]),
    "processes": lambda n: each(n, lambda i: [launch(i, i + 10, i + 10), kernel(i)]),
    "devices": lambda n: each(n, lambda i: [launch(i), kernel(i, device=i)]),
    "streams": lambda n: each(n, lambda i: [launch(i), kernel(i, stream=i)]),
    "names": lambda n: each(n, lambda i: [launch(i), kernel(i, name=f"kernel_{i}")]),
    "steps": lambda n: each(n, lambda i: [event(f"ProfilerStep#{i}", "user_annotation", 10 * i, 9), launch(i), kernel(i)]),
    "nested slices": lambda n: few() + [event(f"f{i % 7}", "cpu_op", i, 4 * n - 2 * i) for i in range(n)],
    "overlapping slices": lambda n: few() + [event(f"op{i % 5}", "cpu_op", 0, i + 1) for i in range(n)],
    "waits": lambda n: each(
        n, lambda i: [launch(i), kernel(i), event("cudaStreamSynchronize", "cuda_runtime", 10 * i + 4, 5, correlation=n + i)]
    ),
    "one correlation": lambda n: each(n, lambda i: [{**launch(i), "args": {"correlation": 1}}, kernel(i)]),
    "data marks": data_marks,
}  # fmt: skip
VERBS = (
    ("analyze", "FILE"),
    ("convert", "FILE", "-o", "out.json"),
    ("query", "FILE", "SELECT count(*) FROM slice"),
)


def processor_s(words: list[str], folder: Path) -> float:
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"{' '.join(words)}: ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def main(program: str, only: list[str]) -> int:
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape, make in SHAPES.items():
            if only and shape not in only:
                continue
            for verb, *words in VERBS:
                took = []
                for number in (FEW, FEW * TIMES):
                    path = folder / f"{number}.json"
                    if not path.exists():
                        path.write_text(json.dumps({"traceEvents": make(number)}), encoding="utf-8")
                    given = [str(path) if word == "FILE" else word for word in words]
                    took.append(processor_s([program, verb, *given, "--no-cache"], folder))
                times = took[1] / max(took[0], OWN_S)
                print(f"{shape:20} {verb:8} {took[0]:6.2f} s, {TIMES} times as many: {took[1]:6.2f} s")
                if times > MOST_TIMES or took[1] > LIMIT_S:
                    failures.append(f"{verb} of {TIMES} times as many {shape} takes {times:.0f} times as long")
            for path in folder.glob("*.json"):
                path.unlink()
    print("\n".join(failures) or "every shape takes time in proportion")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).resolve()), sys.argv[2:]))
