#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings with very many of one thing take time in proportion: eight times as many take far less than 64 times as long.

usage: hostile_shapes.py PROGRAM [SHAPE...]

Processor time is compared, so that a busy machine is no failure. The time of a tiny recording is subtracted as the program's
own. bench/shapes.py measures the same shapes at larger sizes and states how time grows.
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
Shape = Callable[[int], list[Event]]
FEW, TIMES = 1500, 8
MOST_TIMES = 16  # n log n gives 9, a square 64; short times are less certain
MIN_S = 0.015  # shorter times say nothing
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"


def event(name: str, category: str, ts: int, dur: int, tid: int = 1, pid: int = 1, **more: object) -> Event:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": more}


def launch(i: int, tid: int = 1, pid: int = 1, correlation: int | None = None) -> Event:
    number = i if correlation is None else correlation
    return event("cudaLaunchKernel", "cuda_runtime", 10 * i, 2, tid, pid, correlation=number)


def kernel(i: int, device: int = 0, stream: int = 7, name: str = "kernel", correlation: int | None = None) -> Event:
    number = i if correlation is None else correlation
    return event(name, "kernel", 10 * i + 3, 5, stream, device, device=device, stream=stream, correlation=number)


def pair(i: int) -> list[Event]:
    return [launch(i), kernel(i)]


def few() -> list[Event]:
    return each(10, pair)


def each(n: int, of: Callable[[int], list[Event]]) -> list[Event]:
    return [event for i in range(n) for event in of(i)]


def beside_few(of: Callable[[int, int], Event]) -> Shape:
    """Returns the shape of n events, each made from its number and n, beside a few kernels."""
    return lambda n: few() + [of(i, n) for i in range(n)]


def arrow(identity: int, category: str, start: int, end: int, **where: int) -> list[Event]:
    ends = {"id": identity, "cat": category, "name": category}
    return [
        {"ph": "s", **ends, "pid": 1, "tid": 1, "ts": start},
        {"ph": "f", "bp": "e", **ends, "pid": 1, "tid": 1, "ts": end, **where},
    ]


def function(i: int, ts: int, dur: int, parent: int) -> Event:
    return event(f"mod.py({i % 7}): f", "python_function", ts, dur, **{"Python id": i, "Python parent id": parent})


def allocation(i: int, **more: int) -> Event:
    where = {"name": "[memory]", "pid": 1, "tid": 1}
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", **where, "ts": 10 * i, "args": {"Device Type": 1, **more}}


def described_collective(i: int) -> list[Event]:
    group = {"Process Group Name": str(i), "Process Group Ranks": "[0,1,2,3,4,5,6,7]"}
    what: dict[str, Any] = {"Collective name": "allreduce", "In msg nelems": i, "dtype": "Float", **group}
    return [event("record_param_comms", "cpu_op", 10 * i, 2, **what), launch(i), kernel(i, stream=20, name=ALL_REDUCE)]


def event_wait(i: int, n: int) -> list[Event]:
    recorded = {"wait_on_stream": (i + 1) % 50, "wait_on_cuda_event_record_corr_id": i * 7 % n}
    wait = {"cuda_sync_kind": "Stream Wait Event", "stream": i % 50, "correlation": i, **recorded}
    return [launch(i), kernel(i, stream=i % 50), event("Event Sync", "cuda_sync", 10 * i + 4, 1, 7, 0, **wait)]


def backward(i: int) -> list[Event]:
    same = {"Sequence number": 1}
    name = "autograd::engine::evaluate_function: MulBackward0"
    return [
        event("aten::mul", "cpu_op", 10 * i, 1, **same, **{"Fwd thread id": 0}),
        event(name, "cpu_op", 10 * i + 2, 1, 2, **same, **{"Fwd thread id": 1}),
    ]


def copy(i: int) -> list[Event]:
    moved = {"device": 0, "stream": 7, "correlation": i, "bytes": i}
    return [
        event("cudaMemcpyAsync", "cuda_runtime", 10 * i, 9, correlation=i),
        event("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 10 * i + 1, 7, 7, 0, **moved),
    ]


def step(i: int, ts: int, dur: int) -> Event:
    return event(f"ProfilerStep#{i}", "user_annotation", ts, dur)


def wait(name: str, i: int, n: int, dur: int) -> Event:
    return event(name, "cuda_runtime", 10 * i + 4, dur, correlation=n + i)


def loaded(loader: str) -> Shape:
    mark = f"enumerate(DataLoader)#_{loader}DataLoaderIter.__next__"
    return beside_few(lambda i, n: event(mark, "user_annotation", 100 * i, 90))


def at_once(dur: int | None) -> Shape:
    changed = {"ts": 5} if dur is None else {"ts": 5, "dur": dur}
    return lambda n: [{**event, **changed} for event in each(n, pair)]


def shaped_operator(i: int) -> Event:
    shapes: dict[str, Any] = {"Input Dims": [[i, i], [i, i]], "Input type": ["float", "float"], f"k{i}": i}
    return event("aten::mm", "cpu_op", 10 * i, 9, **shapes)


def wide_operators(n: int) -> list[Event]:
    wide: dict[str, Any] = {"Input Dims": [[1] * n], "Input type": ["float"] * n}
    return few() + [event("aten::mm", "cpu_op", 10, 9, **wide)]


def counter(i: int) -> Event:
    return {"ph": "C", "cat": "counter", "name": f"c{i}", "pid": 1, "ts": i, "args": {f"v{i}": i}}


def process_name(i: int) -> Event:
    return {"ph": "M", "name": "process_name", "pid": i, "tid": 0, "args": {"name": f"p{i}"}}


def graph(n: int) -> list[Event]:
    return [event("cudaGraphLaunch", "cuda_runtime", 1, 2, correlation=1)] + [
        kernel(i, correlation=1) for i in range(n)
    ]


SHAPES: dict[str, Shape] = {
    "threads": lambda n: each(n, lambda i: [launch(i, tid=i + 1), kernel(i)]),
    "processes": lambda n: each(n, lambda i: [launch(i, i + 10, i + 10), kernel(i)]),
    "devices": lambda n: each(n, lambda i: [launch(i), kernel(i, device=i)]),
    "devices with threads": lambda n: each(n, lambda i: [launch(i, tid=i + 1), kernel(i, device=i)]),
    "streams": lambda n: each(n, lambda i: [launch(i), kernel(i, stream=i)]),
    "streams of devices": lambda n: each(n, lambda i: [launch(i), kernel(i, device=i % 64, stream=i)]),
    "streams with steps": lambda n: each(n, lambda i: [step(i, 10 * i, 9), launch(i), kernel(i, stream=i)]),
    "threads with steps": lambda n: each(n, lambda i: [step(i, 10 * i, 9), launch(i, tid=i + 1), kernel(i)]),
    "names": lambda n: each(n, lambda i: [launch(i), kernel(i, name=f"kernel_{i}")]),
    "steps": lambda n: each(n, lambda i: [step(i, 10 * i, 9), launch(i), kernel(i)]),
    "nested steps": beside_few(lambda i, n: step(i, i, 4 * n - 2 * i)),
    "steps of one number": beside_few(lambda i, n: step(1, 10 * i, 9)),
    "nested slices": beside_few(lambda i, n: event(f"f{i % 7}", "cpu_op", i, 4 * n - 2 * i)),
    "overlapping slices": beside_few(lambda i, n: event(f"op{i % 5}", "cpu_op", 0, i + 1)),
    "crossing slices": beside_few(lambda i, n: event(f"op{i % 5}", "cpu_op", i, n)),
    "crossing slices beside kernels": lambda n: each(n, lambda i: [*pair(i), event("op", "cpu_op", 10 * i, 10 * n, 2)]),
    "nested functions": beside_few(lambda i, n: function(i, i, 4 * n - 2 * i, i - 1)),
    "a cycle of functions": beside_few(lambda i, n: function(i, 10 * i, 9, (i + 1) % n)),
    "starts without ends": beside_few(lambda i, n: {"ph": "B", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": i}),
    "waits": lambda n: each(n, lambda i: [*pair(i), wait("cudaStreamSynchronize", i, n, 5)]),
    "crossing waits": lambda n: each(n, lambda i: [*pair(i), wait("cudaDeviceSynchronize", i, n, 10)]),
    "waits for events": lambda n: each(n, lambda i: event_wait(i, n)),
    "one correlation": lambda n: each(n, lambda i: [launch(i, correlation=1), kernel(i)]),
    "one correlation of both": lambda n: each(n, lambda i: [launch(i, correlation=1), kernel(i, correlation=1)]),
    "a graph": graph,
    "one instant": at_once(None),
    "one instant of no duration": at_once(0),
    "latest first": lambda n: each(n, pair)[::-1],
    "arrows of one number": lambda n: few() + each(n, lambda i: arrow(1, "ac2g", 10 * i, 10 * i + 3, pid=0, tid=7)),
    "a cycle of arrows": lambda n: few() + each(n, lambda i: arrow(i, "fwdbwd", 10 * ((i + 1) % n), 10 * i)),
    "backward operators": lambda n: each(n, backward),
    "collectives": lambda n: each(n, lambda i: [launch(i), kernel(i, stream=i % 3, name=ALL_REDUCE)]),
    "collectives at one instant": lambda n: [
        {**event, "ts": 5} for event in each(n, lambda i: [launch(i), kernel(i, stream=i, name=ALL_REDUCE)])
    ],
    "collectives of devices": lambda n: each(n, lambda i: [launch(i), kernel(i, device=i, name=ALL_REDUCE)]),
    "names of devices": lambda n: each(n, lambda i: [launch(i), kernel(i, device=i, name=f"kernel_{i}")]),
    "waits for devices": lambda n: each(n, lambda i: [launch(i), kernel(i, device=i), wait("cudaDeviceSynchronize", i, n, 5)]),
    "described collectives": lambda n: each(n, described_collective),
    "copies": lambda n: each(n, copy),
    "allocations": beside_few(lambda i, n: allocation(i, Bytes=100 if i % 2 else -100, Addr=i, **{"Device Id": i % 5,
                              "Total Allocated": i * 100, "Total Reserved": i * 100})),
    "allocations at one address": beside_few(lambda i, n: allocation(i, Bytes=100, Addr=1, **{"Device Id": 0})),
    "allocations of devices": beside_few(lambda i, n: allocation(i, Bytes=100, Addr=i, **{"Device Id": i})),
    "counters": beside_few(lambda i, n: counter(i)),
    "shapes": beside_few(lambda i, n: shaped_operator(i)),
    "one wide shape": wide_operators,
    "process names": beside_few(lambda i, n: process_name(i)),
    "described devices": lambda n: few(),
    "data marks": loaded("SingleProcess"),
    "data marks of workers": loaded("MultiProcessing"),
}  # fmt: skip
VERBS = {
    "analyze": ["analyze", "FILE"],
    "convert": ["convert", "FILE", "-o", "out.json"],
    "query": ["query", "FILE", "SELECT count(*) FROM slice"],
}


def write_recording(shape: str, n: int, path: Path) -> None:
    recording: dict[str, Any] = {"traceEvents": SHAPES[shape](n)}
    if shape == "described devices":
        recording["deviceProperties"] = [{"id": i, "name": f"g{i}", "totalGlobalMem": 1 << 40} for i in range(n)]
    path.write_text(json.dumps(recording), encoding="utf-8")


def processor_s(program: str, verb: str, path: Path) -> float:
    """Returns the processor time of one process, started in the folder of the recording."""
    words = [program, *(str(path) if word == "FILE" else word for word in VERBS[verb]), "--no-cache"]
    process = subprocess.Popen(words, cwd=path.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"{' '.join(words)}: ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def own_times(program: str, folder: Path) -> dict[str, float]:
    """Returns the processor time of each verb for a tiny recording, the least of three."""
    path = folder / "own.json"
    path.write_text(json.dumps({"traceEvents": few()}), encoding="utf-8")
    return {verb: least_s(program, verb, path) for verb in VERBS}


def least_s(program: str, verb: str, path: Path) -> float:
    return min(processor_s(program, verb, path) for _ in range(3))


def main(program: str, only: list[str]) -> int:
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = own_times(program, folder)
        for shape in only or SHAPES:
            paths = folder / "few.json", folder / "many.json"
            for number, path in ((FEW, paths[0]), (FEW * TIMES, paths[1])):
                write_recording(shape, number, path)
            for verb in VERBS:
                took, longer = (max(processor_s(program, verb, path) - own[verb], MIN_S) for path in paths)
                print(f"{shape:30} {verb:8} {took:6.3f} s, {TIMES} times as many: {longer:6.3f} s")
                if longer > MOST_TIMES * took:  # other work may have been beside it: the least of three decides
                    took, longer = (max(least_s(program, verb, path) - own[verb], MIN_S) for path in paths)
                if longer > MOST_TIMES * took:
                    failures.append(f"{verb} of {TIMES} times as many {shape} takes {longer / took:.0f} times as long")
    print("\n".join(failures) or "every shape takes time in proportion")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).resolve()), sys.argv[2:]))
