# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis 0.6.1's quantities, by its formulas, from what `gapless query` says of each GPU operation.

The same rows, times, launches and classes must give the same answers as HTA gave: temporal breakdown, time by type of
kernel, overlap, kernels by name, launches, idle time of streams, bandwidth of copies. First the rows are left out that
HTA leaves out (as_hta_keeps). What HTA gets wrong is not repeated here; oracle_hta.py lists where that shows.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from oracle import Comparison, Op, common, spans_of, total

Marks = list[tuple[str, int, int]]  # ProfilerStep#N: name, start, end


def as_hta_keeps(ops: list[Op], marks: Marks, with_last: bool) -> list[Op]:
    """HTA takes rows with a stream and a correlation. Of two steps or more it drops the last: what was launched from
    its start on; told to keep it, what was launched after its end."""
    kept = [
        op
        for op in ops
        if op.stream is not None and op.stream >= 0 and op.correlation is not None and op.correlation >= 0
    ]
    if len({name for name, _, _ in marks}) < 2:
        return kept
    last_start, last_end = max(start for _, start, _ in marks), max(end for _, _, end in marks)
    until = last_end + 1 if with_last else last_start
    return [op for op in kept if op.launch_ts is not None and op.launch_ts < until]


def in_whole_us(ops: list[Op]) -> bool:
    return all(op.ts % 1000 == 0 and op.dur % 1000 == 0 for op in ops)


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
            together = " overlapping ".join(name for name, on in zip(types, running) if on)
            sums[together] += (until - ts) / 1e3
    return sums


def compare_kernel_breakdown(check: Comparison, ops: list[Op], answer: dict[str, Any]) -> None:
    mine = time_by_type(ops)
    theirs = {row[0]: row[1] for row in table(answer["kernel_type"])}
    for name in sorted({*mine, *theirs}) if in_whole_us(ops) else ():  # HTA cuts the ends of intervals to whole µs
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
        for what, value, within in (
            ("sum", sum(values), noise * math.sqrt(len(values))),
            ("max", max(values), noise),
            ("min", min(values), noise),
            ("median", statistics.median(values), noise),
        ):
            check.close(f"hta launches: {what} of {name}", value, answer[name][what], within)


CAUSES = ("host_wait", "kernel_wait", "other")


def idle_of_streams(ops: list[Op]) -> dict[tuple[int, str], float]:
    """HTA's idle time of each stream by cause, in µs. Under "noise": by how much its floating point, which holds
    0.25 µs, may change them."""
    by_stream: dict[int, list[Op]] = defaultdict(list)
    for op in ops:
        by_stream[op.stream or 0].append(op)
    sums: dict[tuple[int, str], float] = defaultdict(float)
    for stream, rows in by_stream.items():
        rows.sort(key=lambda op: op.ts)
        for before, op in zip(rows, rows[1:]):
            gap = op.ts - before.end
            ahead = before.end - op.launch_ts if op.launch_ts is not None else 2**62
            cause = "host_wait" if ahead < 0 else "kernel_wait" if gap < 30_000 else "other"
            sums[stream, cause] += gap / 1e3
            sums[stream, "noise"] += abs(gap) / 1e3 if abs(ahead) < 500 else 0.0
        sums[stream, "noise"] = 0.01 if in_whole_us(rows) else sums[stream, "noise"] + 0.5 + 0.25 * math.sqrt(len(rows))
    return sums


def compare_idle(check: Comparison, ops: list[Op], answer: dict[str, Any]) -> None:
    """Compares idle time by cause; only the sum for streams with operations whose launch was not recorded: HTA takes the first event of the
    file for their launch."""
    mine = idle_of_streams(ops)
    theirs: dict[tuple[int, str], float] = {(row[1], row[2]): row[3] or 0.0 for row in table(answer["idle"])}
    unlaunched = {op.stream for op in ops if op.launch_ts is None}
    for stream in sorted({op.stream or 0 for op in ops}):
        groups = [CAUSES] if stream in unlaunched else [(cause,) for cause in CAUSES]
        for causes in groups:
            ours, expected = (sum(of.get((stream, cause), 0.0) for cause in causes) for of in (mine, theirs))
            check.close(f"hta idle: {' + '.join(causes)} of stream {stream}", ours, expected, mine[stream, "noise"])


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
    """HTA adds up the bandwidths of copies that run at once; where none do, its mean and largest are those of single
    copies."""
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


def compare_part(check: Comparison, ops: list[Op], answers: dict[str, Any]) -> None:
    parts: dict[str, Callable[[Comparison, list[Op], Any], None]] = {
        "temporal_breakdown": compare_temporal,
        "gpu_kernel_breakdown": compare_kernel_breakdown,
        "comm_comp_overlap": compare_overlap,
        "idle_time_breakdown": compare_idle,
        "memory_bw_summary": compare_bandwidth,
    }
    for name, compare in parts.items():
        if ops and answers.get(name):
            compare(check, ops, answers[name])
    for launches in (answers.get("launch_stats") or {}).values():
        compare_launches(check, ops, launches)


def compare_hta(check: Comparison, ops: list[Op], marks: Marks, answers: dict[str, Any]) -> None:
    kept = as_hta_keeps(ops, marks, with_last=False)
    loaded = sum(rank["gpu_rows_stream_not_-1"] for rank in answers["loaded"].values())
    check.equal("hta rows", len(kept), loaded)
    compare_part(check, kept, answers)
    compare_part(check, as_hta_keeps(ops, marks, with_last=True), answers.get("include_last_profiler_step") or {})
