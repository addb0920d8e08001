#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds gapless against answers that others gave about the same recordings. docs/definitions.md has the definitions.

1. A count in plain Python without rounding: busy time of each device, kernels by name. Equal to the nanosecond.
2. HolisticTraceAnalysis 0.6.1 (hta.py here).
3. The TensorBoard plugin's overview, where its steps are ours.
4. gapless's own analyses of the window it chose, recomputed here from the rows.

A difference that has no line in EXPLAINED is a failure, and so is a line that explains nothing.

usage: oracle_hta.py PROGRAM
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import corpus
from hta import compare_hta
from oracle import Comparison, Difference, Op, Reading, common, read_recording, spans_of, total

TRITON = "HTA takes host operators of Triton, which carry a stream number, for kernels"
SYNC = "HTA takes the recorder's synchronisation rows on streams for work"
TWICE = "two calls have one correlation: HTA counts the operation once for each"
MULTIMEM = "HTA knows communication kernels by the name ncclKernel only"

# (part of the path, quantity or its beginning, why). Every line must explain a difference that occurs.
EXPLAINED: tuple[tuple[str, str, str], ...] = (
    ("b200/eager_trace", "hta kernels: type of void (anonymous namespace)::multimem_all_reduce_kernel", MULTIMEM),
    ("b200/eager_trace", "hta temporal: compute", MULTIMEM),
    ("b200/eager_trace", "hta temporal: non_compute", MULTIMEM),
    *(
        (path, quantity, TRITON)
        for path in (
            "b200/eager_trace",
            "vllm_decode_full/capture_traces",
            "xdit_flux.1/",
            "xdit_flux.1_aiter_sage/",
            "torch_compile_triton",
            "triton_example/",
        )
        for quantity in ("hta rows", "hta temporal", "hta kernels")
    ),
    *(
        (path, quantity, SYNC)
        for path in (
            "critical_path/alexnet",
            "critical_path/cuda_event_sync/",
            "critical_path/cuda_event_sync_multi_stream",
            "critical_path/end_to_end",
        )
        for quantity in ("hta rows", "hta temporal")
    ),
    *(
        ("ROCm__aorta/misc/smci350", quantity, TWICE)
        for quantity in ("hta rows", "hta kernels: sum of __amd_rocclr_fillBufferAligned", "hta idle: kernel_wait")
    ),
)

# The TensorBoard plugin at kineto 94979607^: GPU utilisation and estimated achieved occupancy, both in percent.
TENSORBOARD = {
    "resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz": (55.51, 49.13),
    "resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz": (70.27, 48.91),
}


# ---- 1. the plain count ----


def compare_count(check: Comparison, ops: list[Op], count: dict[str, Any]) -> None:
    by_device: dict[str, list[Op]] = defaultdict(list)
    for op in ops:
        by_device[str(op.device)].append(op)
    check.equal("count: devices", sorted(by_device), sorted(count["gpu_busy"]))
    for device, busy in count["gpu_busy"].items():
        mine = by_device[device]
        check.equal(f"count: intervals of device {device}", len(mine), busy["intervals"])
        check.equal(f"count: busy sum of device {device}", sum(op.dur for op in mine), busy["sum_ns"])
        check.equal(f"count: busy union of device {device}", total(spans_of(mine)), busy["union_ns"])
    kernels: dict[str, list[int]] = defaultdict(list)
    for op in ops:
        if op.kind == "kernel":
            kernels[op.name].append(op.dur)
    check.equal("count: distinct kernels", len(kernels), count["kernels"].get("distinct_names", 0))
    for name, *numbers in count["kernels"].get("top50", []):
        durations = kernels.get(name, [0])
        mine_numbers = [len(durations), sum(durations), min(durations), max(durations)]
        check.equal(f"count: kernel {name}", mine_numbers, numbers)


# ---- 3. the TensorBoard plugin ----


def compare_tensorboard(check: Comparison, ops: list[Op], window: tuple[int, int], kernels: list[list[Any]]) -> None:
    utilisation, occupancy = TENSORBOARD[check.recording.removeprefix("pytorch__kineto/tb_plugin/samples/")]
    busy = total(spans_of((op for op in ops if op.kind == "kernel"), window))
    check.close("tensorboard: GPU utilisation", 100 * busy / (window[1] - window[0]), utilisation, 0.00501)
    weighted = sum(occupied * ns for _, _, _, _, ns, _, _, occupied in kernels)
    check.close("tensorboard: occupancy", weighted / sum(row[4] for row in kernels), occupancy, 0.00501)


# ---- 4. gapless's analyses ----


def window_of(ops: list[Op], steps: list[tuple[int, int]]) -> tuple[int, int]:
    """From the first complete step to the last; without steps all operations and their launches."""
    if steps:
        return min(start for start, _ in steps), max(end for _, end in steps)
    launches = [(op.launch_ts, op.launch_ts + (op.launch_dur or 0)) for op in ops if op.launch_ts is not None]
    everything = [(op.ts, op.end) for op in ops] + launches
    return min(start for start, _ in everything), max(end for _, end in everything)


def ledger_of(ops: list[Op], window: tuple[int, int]) -> list[int]:
    """wall, compute, exposed communication, exposed copies, idle."""
    compute = total(spans_of((op for op in ops if op.type == "COMPUTATION"), window))
    kernels = total(spans_of((op for op in ops if op.type != "MEMORY"), window))
    busy = total(spans_of(ops, window))
    wall = window[1] - window[0]
    return [wall, compute, kernels - compute, busy - kernels, wall - busy]


def compare_device(check: Comparison, ops: list[Op], window: tuple[int, int], tables: Reading) -> None:
    check.equal("ledger", tables["ledger"], [ledger_of(ops, window)])
    inside = [op for op in ops if window[0] <= op.ts < window[1]]
    communication = [op for op in inside if op.type == "COMMUNICATION"]
    running = spans_of((op for op in ops if op.type == "COMMUNICATION"), window)
    hidden = common(running, spans_of((op for op in ops if op.type == "COMPUTATION"), window))
    if communication:
        check.equal(
            "communication",
            [row[:3] for row in tables["communication"]],
            [[len(communication), total(running), total(running) - hidden]],
        )
        check.close("communication: overlap", tables["communication"][0][3], hidden / total(running), 1e-9)
    kernels: dict[str, list[int]] = defaultdict(list)
    copies: dict[str, list[Op]] = defaultdict(list)
    for op in inside:
        if op.kind == "kernel":
            kernels[op.name].append(op.dur)
        else:
            copies["memset" if op.kind == "memset" else op.copy_kind or "other"].append(op)
    check.equal(
        "kernels",
        {row[0]: row[1:5] for row in tables["kernels"]},
        {name: [len(d), sum(d), min(d), max(d)] for name, d in kernels.items()},
    )
    sizes = {kind: [op.bytes for op in rows if op.bytes is not None] for kind, rows in copies.items()}
    check.equal(
        "copies",
        {row[0]: row[1:] for row in tables["copies"]},
        {
            kind: [len(rows), sum(sizes[kind]) if sizes[kind] else None, sum(op.dur for op in rows)]
            for kind, rows in copies.items()
        },
    )
    calls = {op.launch_id: op.launch_dur or 0 for op in inside if op.launch_id is not None}
    check.equal(
        "launches",
        tables["launches"],
        [[len(calls), sum(op.launch_id is not None for op in inside), sum(calls.values())]],
    )


ANALYSES = ("ledger", "communication", "kernels", "launches", "copies")


def compare_analyses(check: Comparison, trace: int, ops: list[Op], read: Reading) -> None:
    if not any(row[0] == trace for row in read["ledger"]):
        return  # a supplement, or another execution: analyses leave it out
    window = window_of(ops, [(row[1], row[2]) for row in read["steps"] if row[0] == trace])
    if any(check.recording.endswith(path) for path in TENSORBOARD):
        compare_tensorboard(check, ops, window, read["kernels"])
    for device in sorted({op.device for op in ops}):
        tables = {name: [row[2:] for row in read[name] if row[:2] == [trace, device]] for name in ANALYSES}
        compare_device(check, [op for op in ops if op.device == device], window, tables)


# ---- all of them ----


def compare_all(program: str) -> Iterator[Comparison]:
    containers: dict[str, Reading] = {}
    for path, count in corpus.counts():
        if not count.get("gpu_busy"):
            continue  # nothing on a GPU
        container = path.split("!/")[0]
        if container not in containers:
            containers = {container: read_recording(program, container)}
        read = containers[container]
        trace = next(row[0] for row in read["traces"] if row[1] == path)
        ops = [Op(*row) for row in read["ops"] if row[0] == trace]
        check = Comparison(path.removeprefix(f"{corpus.FOLDER}/kineto/"))
        compare_count(check, ops, count)
        answers = corpus.hta(path)
        if answers is not None:
            compare_hta(check, ops, [(row[1], row[2], row[3]) for row in read["marks"] if row[0] == trace], answers)
        compare_analyses(check, trace, ops, read)
        yield check


def explanation_of(difference: Difference) -> int:
    """Line of EXPLAINED that explains it; -1: none does."""
    for line, (recording, quantity, _) in enumerate(EXPLAINED):
        if recording in difference.recording and difference.quantity.startswith(quantity):
            return line
    return -1


def main() -> int:
    corpus.require()
    failures: list[str] = []
    explained = [0] * len(EXPLAINED)
    recordings = compared = 0
    for check in compare_all(sys.argv[1]):
        recordings, compared = recordings + 1, compared + check.compared
        for difference in check.differences:
            line = explanation_of(difference)
            if line < 0:
                failures.append(str(difference))
            else:
                explained[line] += 1
    failures += [f"explains nothing: {EXPLAINED[line]}" for line, times in enumerate(explained) if times == 0]
    for failure in failures[:40]:
        print(failure)
    print(
        f"{recordings} recordings, {compared} numbers compared, {sum(explained)} differences explained,",
        f"{len(failures)} failures",
    )
    return 1 if failures or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
