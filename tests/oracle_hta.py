#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds gapless against answers that others gave about the same recordings (docs/definitions.md has the definitions).

1. A count in plain Python, without rounding: busy time of each device, kernels by name. Must be equal to the nanosecond.
2. HolisticTraceAnalysis 0.6.1: temporal breakdown, time by type of kernel, overlap, kernels by name, launches, idle time of
   streams, bandwidth of copies. Computed here by its formulas, from what `gapless query` says of each operation: the same
   rows, times, launches and classes must give the same answers. First the rows are left out that HTA leaves out (as_hta_keeps).
3. The TensorBoard plugin's overview, where its steps are ours.
4. gapless's own analyses over the analysed window, recomputed here from the rows: ledger, overlap, kernels, launches, copies.

A difference that has no line in EXPLAINED is a failure, and so is a line that explains nothing.

usage: oracle_hta.py PROGRAM
"""
from __future__ import annotations

import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import corpus
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
    *((path, quantity, TRITON)
      for path in ("b200/eager_trace", "vllm_decode_full/capture_traces", "xdit_flux.1/", "xdit_flux.1_aiter_sage/",
                   "torch_compile_triton", "triton_example/triton_example.json.gz",
                   "triton_example/triton_example.json.gz.v-0935c73d", "triton_example/triton_example.json.gz.v-36347a15")
      for quantity in ("hta rows", "hta temporal", "hta kernels")),
    *((path, quantity, SYNC)
      for path in ("critical_path/alexnet", "critical_path/cuda_event_sync/event_sync_trace.json.gz",
                   "critical_path/cuda_event_sync/event_sync_trace.json.gz.v-a4a6c2d1",
                   "critical_path/cuda_event_sync_multi_stream", "critical_path/end_to_end/simple_add/input",
                   "critical_path/end_to_end/simple_add/output")
      for quantity in ("hta rows", "hta temporal")),
    *(("ROCm__aorta/misc/smci350", quantity, TWICE)
      for quantity in ("hta rows", "hta kernels: sum of __amd_rocclr_fillBufferAligned", "hta idle: kernel_wait")),
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


# ---- 2. HTA ----


def as_hta_keeps(ops: list[Op], marks: list[tuple[str, int]]) -> list[Op]:
    """HTA takes rows with a stream and a correlation. Of two steps or more it drops the last: what was launched from its mark on."""
    kept = [op for op in ops if op.stream is not None and op.stream >= 0 and op.correlation is not None and op.correlation >= 0]
    if len({name for name, _ in marks}) < 2:
        return kept
    last = max(ts for _, ts in marks)
    return [op for op in kept if op.launch_ts is not None and op.launch_ts < last]


def table(answer: dict[str, Any]) -> list[list[Any]]:
    rows: list[list[Any]] = answer["rows"]
    return rows


def compare_temporal(check: Comparison, ops: list[Op], answer: dict[str, Any]) -> None:
    idle, compute, other, whole = table(answer)[0][1:5]
    busy = total(spans_of(ops))
    wall = max(op.end for op in ops) - min(op.ts for op in ops)
    computing = total(spans_of(op for op in ops if op.type == "COMPUTATION"))
    check.close("hta temporal: kernel_time", wall / 1e3, whole, 0.5)
    check.close("hta temporal: idle", (wall - busy) / 1e3, idle, 0.5)
    check.close("hta temporal: compute", computing / 1e3, compute, 0.01)
    check.close("hta temporal: non_compute", (busy - computing) / 1e3, other, 0.01)


def time_by_type(ops: list[Op]) -> dict[str, float]:
    """Exclusive time of each combination of types that run together, in µs."""
    changes: list[tuple[int, int, int]] = []
    types = ("COMPUTATION", "COMMUNICATION", "MEMORY")
    for bit, name in enumerate(types):
        for start, end in spans_of(op for op in ops if op.type == name):
            changes += [(start, 1, bit), (end, -1, bit)]
    changes.sort()
    sums: dict[str, float] = defaultdict(float)
    running = [0, 0, 0]
    for at, (ts, change, bit) in enumerate(changes):
        running[bit] += change
        until = changes[at + 1][0] if at + 1 < len(changes) else ts
        if until > ts and any(running):
            sums[" overlapping ".join(name for name, on in zip(types, running) if on)] += (until - ts) / 1e3
    return sums


def compare_kernel_breakdown(check: Comparison, ops: list[Op], answer: dict[str, Any]) -> None:
    mine = time_by_type(ops)
    theirs = {row[0]: row[1] for row in table(answer["kernel_type"])}
    whole = all(op.ts % 1000 == 0 and op.dur % 1000 == 0 for op in ops)  # HTA cuts the ends of intervals to whole µs
    for name in sorted({*mine, *theirs}) if whole else ():
        check.close(f"hta kernel types: {name}", mine.get(name, 0), theirs.get(name, 0), 0.01)
    durations: dict[str, list[float]] = defaultdict(list)
    for op in ops:
        durations[op.name].append(op.dur / 1e3)
    for name, summed, longest, shortest, _, _, kind, _ in table(answer["all_kernel"]):
        values = durations.get(name, [0.0])
        check.close(f"hta kernels: sum of {name}", sum(values), summed, 0.01)
        check.close(f"hta kernels: max of {name}", max(values), longest, 0.01)
        check.close(f"hta kernels: min of {name}", min(values), shortest, 0.01)
        check.equal(f"hta kernels: type of {name}", next((op.type for op in ops if op.name == name), None), kind)


def compare_overlap(check: Comparison, ops: list[Op], answer: dict[str, Any]) -> None:
    theirs = table(answer)[0][1]
    communication = spans_of(op for op in ops if op.type == "COMMUNICATION")
    computation = spans_of(op for op in ops if op.type == "COMPUTATION")
    mine = 100 * common(communication, computation) / total(communication) if communication else None
    check.close("hta overlap", mine, theirs, 0.00501)  # two decimals


HTA_LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"}


def compare_launches(check: Comparison, ops: list[Op], answer: dict[str, Any]) -> None:
    launched = [op for op in ops if op.launch in HTA_LAUNCHES]
    check.equal("hta launches: count", len(launched), answer["count"])
    if not answer["count"] or not launched:
        return
    columns: dict[str, list[float]] = {"cpu_duration": [], "gpu_duration": [], "launch_delay": []}
    for op in launched:
        assert op.launch_ts is not None and op.launch_dur is not None
        columns["cpu_duration"].append(op.launch_dur / 1e3)
        columns["gpu_duration"].append(op.dur / 1e3)
        columns["launch_delay"].append(max(0, op.ts - op.launch_ts - op.launch_dur) / 1e3)
    for name, values in columns.items():
        noise = 0.5 if name == "launch_delay" else 0.01  # delays are differences of absolute times in floating point
        for what, value, within in (("sum", sum(values), noise * math.sqrt(len(values))), ("max", max(values), noise),
                                    ("min", min(values), noise), ("median", statistics.median(values), noise)):
            check.close(f"hta launches: {what} of {name}", value, answer[name][what], within)


def idle_of_streams(ops: list[Op]) -> dict[tuple[int, str], tuple[float, int]]:
    """HTA's idle time of each stream by cause, in µs, and the number of gaps."""
    by_stream: dict[int, list[Op]] = defaultdict(list)
    for op in ops:
        by_stream[op.stream or 0].append(op)
    sums: dict[tuple[int, str], tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for stream, rows in by_stream.items():
        rows.sort(key=lambda op: op.ts)
        for before, op in zip(rows, rows[1:]):
            gap = op.ts - before.end
            waits_for_host = op.launch_ts is not None and op.launch_ts > before.end
            cause = "host_wait" if waits_for_host else "kernel_wait" if gap < 30_000 else "other"
            time, gaps = sums[stream, cause]
            sums[stream, cause] = time + gap / 1e3, gaps + 1
    return sums


def compare_idle(check: Comparison, ops: list[Op], answer: dict[str, Any]) -> None:
    """By cause; only the sum for streams with operations whose launch was not recorded: HTA takes the first event of the file
    for their launch."""
    mine = idle_of_streams(ops)
    theirs: dict[tuple[int, str], float] = {(row[1], row[2]): row[3] or 0.0 for row in table(answer["idle"])}
    for stream in {op.stream or 0 for op in ops if op.launch_ts is None}:
        causes = [key for key in mine if key[0] == stream]
        mine[stream, "any"] = sum(mine[key][0] for key in causes), sum(mine[key][1] for key in causes)
        theirs[stream, "any"] = sum(time for key, time in theirs.items() if key[0] == stream)
        for cause in ("host_wait", "kernel_wait", "other"):
            mine.pop((stream, cause), None)
            theirs.pop((stream, cause), None)
    for key in sorted({*mine, *theirs}):
        time, gaps = mine.get(key, (0.0, 0))
        check.close(f"hta idle: {key[1]} of stream {key[0]}", time, theirs.get(key, 0.0), 0.5 + 0.25 * math.sqrt(gaps))


def run_at_once(ops: list[Op]) -> bool:
    """Does any begin before, or just when, an earlier one ends? What takes no time counts as 1 µs, as in HTA."""
    busy_until = -(2**62)
    for op in sorted(ops, key=lambda op: op.ts):
        if op.ts <= busy_until:
            return True
        busy_until = max(busy_until, op.ts + (op.dur or 1000))
    return False


COPY_NAMES = {"h2d": "Memcpy HtoD", "d2h": "Memcpy DtoH", "d2d": "Memcpy DtoD", "p2p": "Memcpy PtoP"}


def compare_bandwidth(check: Comparison, ops: list[Op], answer: dict[str, Any] | None) -> None:
    """HTA adds up the bandwidths of copies that run at once; where none do, its largest and mean are those of single copies."""
    if answer is None:
        return
    copies: dict[str, list[Op]] = defaultdict(list)
    for op in ops:
        if op.kind == "memset":
            copies["Memset"].append(op)
        elif op.kind == "memcpy":
            copies[COPY_NAMES.get((op.copy_kind or "").split("_")[0], "Memcpy Unknown")].append(op)
    for row in table(answer):
        name, number, mean, longest = row[1], row[2], row[3], row[9]
        mine = copies.get(name, [])
        if run_at_once(mine):
            continue
        rates = [op.gbps for op in mine if op.gbps is not None and op.gbps > 0]
        check.equal(f"hta bandwidth: number of {name}", len(rates), number)
        if rates:
            check.close(f"hta bandwidth: mean of {name}", statistics.fmean(rates), mean, 1e-6)
            check.close(f"hta bandwidth: max of {name}", max(rates), longest, 1e-6)


def compare_hta(check: Comparison, ops: list[Op], marks: list[tuple[str, int]], answers: dict[str, Any]) -> None:
    kept = as_hta_keeps(ops, marks)
    parts: dict[str, Callable[[Comparison, list[Op], Any], None]] = {
        "temporal_breakdown": compare_temporal, "gpu_kernel_breakdown": compare_kernel_breakdown,
        "comm_comp_overlap": compare_overlap, "idle_time_breakdown": compare_idle, "memory_bw_summary": compare_bandwidth}
    rows = answers["loaded"][next(iter(answers["loaded"]))]["gpu_rows_stream_not_-1"] if answers["loaded"] else 0
    check.equal("hta rows", len(kept), rows)
    if not kept:
        return
    for name, compare in parts.items():
        if answers.get(name):
            compare(check, kept, answers[name])
    for launches in (answers.get("launch_stats") or {}).values():
        compare_launches(check, kept, launches)


# ---- 3. gapless's analyses ----


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


def compare_device(check: Comparison, ops: list[Op], window: tuple[int, int], tables: dict[str, list[list[Any]]]) -> None:
    check.equal("ledger", [row for row in tables["ledger"]], [ledger_of(ops, window)])
    inside = [op for op in ops if window[0] <= op.ts < window[1]]
    communication = [op for op in inside if op.type == "COMMUNICATION"]
    running = spans_of((op for op in ops if op.type == "COMMUNICATION"), window)
    hidden = common(running, spans_of((op for op in ops if op.type == "COMPUTATION"), window))
    if communication:
        check.equal("communication", [row[:3] for row in tables["communication"]],
                    [[len(communication), total(running), total(running) - hidden]])
        check.close("communication: overlap", tables["communication"][0][3], hidden / total(running), 1e-9)
    kernels: dict[str, list[int]] = defaultdict(list)
    copies: dict[str, list[Op]] = defaultdict(list)
    for op in inside:
        if op.kind == "kernel":
            kernels[op.name].append(op.dur)
        else:
            copies["memset" if op.kind == "memset" else op.copy_kind or "other"].append(op)
    check.equal("kernels", {row[0]: row[1:] for row in tables["kernels"]},
                {name: [len(d), sum(d), min(d), max(d)] for name, d in kernels.items()})
    sizes = {kind: [op.bytes for op in rows if op.bytes is not None] for kind, rows in copies.items()}
    check.equal("copies", {row[0]: row[1:] for row in tables["copies"]},
                {kind: [len(rows), sum(sizes[kind]) if sizes[kind] else None, sum(op.dur for op in rows)]
                 for kind, rows in copies.items()})
    calls = {op.launch_id: op.launch_dur or 0 for op in inside if op.launch_id is not None}
    check.equal("launches", tables["launches"],
                [[len(calls), sum(op.launch_id is not None for op in inside), sum(calls.values())]])


ANALYSES = ("ledger", "communication", "kernels", "launches", "copies")


def compare_analyses(check: Comparison, trace: int, ops: list[Op], read: dict[str, list[list[Any]]]) -> None:
    if not any(row[0] == trace for row in read["ledger"]):
        return  # a supplement, or another execution: analyses leave it out
    window = window_of(ops, [(row[1], row[2]) for row in read["steps"] if row[0] == trace])
    for device in sorted({op.device for op in ops}):
        tables = {name: [row[2:] for row in read[name] if row[:2] == [trace, device]] for name in ANALYSES}
        compare_device(check, [op for op in ops if op.device == device], window, tables)


# ---- all of them ----


def compare_all(program: str) -> Iterator[Comparison]:
    containers: dict[str, dict[str, list[list[Any]]]] = {}
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
            compare_hta(check, ops, [(row[1], row[2]) for row in read["marks"] if row[0] == trace], answers)
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
    print(*failures[:int(__import__("os").environ.get("N","40"))], sep="\n")
    print(f"{recordings} recordings, {compared} numbers compared, {sum(explained)} differences explained, {len(failures)} failures")
    return 1 if failures or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
