# SPDX-License-Identifier: Apache-2.0
"""Helpers that tests against independent answers share: reading recordings by `gapless query`, sets of intervals, comparing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

# One statement reads a recording once. JSON arrays in cells: rows of different tables in one answer.
SQL = """SELECT
 (SELECT json_group_array(json_array(g.trace, g.name, g.kind, g.class, g.device, g.stream, g.ts_ns, g.dur_ns,
  g.correlation, g.copy_kind, g.bandwidth_gbps, g.bytes, s.id, s.name, s.ts_ns, s.dur_ns))
  FROM all_gpu_op g LEFT JOIN all_slice s ON s.id = g.launch_id) AS ops,
 (SELECT json_group_array(json_array(trace, path)) FROM all_trace) AS traces,
 (SELECT json_group_array(json_array(trace, name, ts_ns, ts_ns + dur_ns)) FROM
  (SELECT trace, name, ts_ns, dur_ns FROM all_slice
   UNION ALL SELECT trace, name, ts_ns, dur_ns FROM all_gpu_annotation)
  WHERE name LIKE 'ProfilerStep#%') AS marks,
 (SELECT json_group_array(json_array(trace, ts_ns, ts_ns + dur_ns)) FROM steps WHERE complete = 1) AS steps,
 (SELECT json_group_array(json_array(trace, device, wall_ns, compute_ns, exposed_comm_ns, exposed_copy_ns, idle_ns))
  FROM ledger WHERE step IS NULL) AS ledger,
 (SELECT json_group_array(json_array(trace, device, calls, total_ns, exposed_ns, overlap_share))
  FROM communication WHERE kind IS NULL) AS communication,
 (SELECT json_group_array(json_array(trace, device, name, calls, total_ns, min_ns, max_ns, occupancy_pct))
  FROM kernels) AS kernels,
 (SELECT json_group_array(json_array(trace, device, calls, gpu_ops, call_total_ns)) FROM launches) AS launches,
 (SELECT json_group_array(json_array(trace, device, kind, calls, bytes, total_ns)) FROM copies) AS copies"""

Spans = list[tuple[int, int]]  # sorted, disjoint
Reading = dict[str, list[list[Any]]]  # by name in SQL: rows


class Op(NamedTuple):
    """A GPU operation and the call that launched it, as `gapless query` gives them."""

    trace: int
    name: str
    kind: str
    op_class: str
    device: int
    stream: int | None
    ts: int
    dur: int
    correlation: int | None
    copy_kind: str | None
    gbps: float | None
    bytes: int | None
    launch_id: int | None
    launch: str | None
    launch_ts: int | None
    launch_dur: int | None

    @property
    def end(self) -> int:
        return self.ts + self.dur

    @property
    def type(self) -> str:
        """HTA's word for what it is."""
        if self.kind != "kernel":
            return "MEMORY"
        return "COMMUNICATION" if self.op_class == "communication" else "COMPUTATION"


@dataclass
class Difference:
    recording: str
    quantity: str
    ours: object
    theirs: object

    def __str__(self) -> str:
        return f"{self.recording}: {self.quantity}: {self.ours}, expected {self.theirs}"


class Comparison:
    """Collects differences of one recording and counts what was compared."""

    def __init__(self, recording: str) -> None:
        self.recording = recording
        self.compared = 0
        self.differences: list[Difference] = []

    def equal(self, quantity: str, ours: object, theirs: object) -> None:
        self.compared += 1
        if ours != theirs:
            self.differences.append(Difference(self.recording, quantity, ours, theirs))

    def close(self, quantity: str, ours: float | None, theirs: float | None, within: float) -> None:
        """Numbers printed with rounding, or that went through floating point."""
        self.compared += 1
        if ours is None or theirs is None:
            same = ours is None and theirs is None
        else:
            same = abs(ours - theirs) <= within + 1e-9 * abs(theirs)
        if not same:
            self.differences.append(Difference(self.recording, quantity, ours, theirs))


# ---- intervals ----


def union(spans: Iterable[tuple[int, int]]) -> Spans:
    merged: Spans = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def total(spans: Spans) -> int:
    return sum(end - start for start, end in spans)


def common(a: Spans, b: Spans) -> int:
    """Returns how long both run: together, less either."""
    return total(a) + total(b) - total(union([*a, *b]))


def spans_of(ops: Iterable[Op], window: tuple[int, int] | None = None) -> Spans:
    low, high = window or (-(2**62), 2**62)
    return union((max(op.ts, low), min(op.end, high)) for op in ops)


# ---- reading ----


def ask(program: str, path: str, sql: str) -> tuple[list[dict[str, Any]] | None, str]:
    """The rows of the answer; None and why when there is none."""
    command = [program, "query", "--no-cache", "--json", path, sql]
    done = subprocess.run(command, capture_output=True, timeout=600, check=False)
    if done.returncode != 0:
        return None, f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
    return json.loads(done.stdout), ""


def read_recording(program: str, path: str) -> Reading:
    rows, problem = ask(program, path, SQL)
    if rows is None:
        raise RuntimeError(f"{path}: {problem}")
    (row,) = rows
    return {name: json.loads(cell) for name, cell in row.items()}
