# SPDX-License-Identifier: Apache-2.0
"""The rows of one rank as HTA numbers and names them, from the tables of gapless."""

from __future__ import annotations

import functools
import gzip
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...run import Run
from .symbols import COMMUNICATION, COMPUTATION, MEMORY, STEP, TraceSymbolTable, as_hta_does, keeps_nanoseconds

CATEGORIES = {
    "operator": "cpu_op", "annotation": "user_annotation", "python": "python_function", "runtime": "cuda_runtime",
    "driver": "cuda_driver", "kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset",
}  # fmt: skip
ANNOTATION_CATEGORY = "gpu_user_annotation"


def _numbers(column: Any, absent: int) -> Any:
    """An integer column as int64, with a number for what is absent."""
    if column.dtype.kind in "iu" and not pd.api.types.is_extension_array_dtype(column.dtype):
        return column.to_numpy()
    return column.to_numpy(dtype=np.int64, na_value=absent)


def _row_of(ids: Any, wanted: Any) -> Any:
    """At which place of the sorted `ids` each wanted one stands; -1 where it is not there."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, at, -1)


@dataclass
class Events:
    """Rows of one rank: host slices, then device operations, then annotations of the device, each sorted by time.

    Column `index` of a row's frame is its place here plus one, so that 0 and -1 stay free for what HTA means by them.
    """

    run: Run
    path: str
    slice_ids: Any  # of gapless, sorted; the first rows
    op_count: int
    parents: Any  # of each slice: its row, or -1
    depths: Any
    name: Any
    cat: Any
    pid: Any
    tid: Any
    ts_ns: Any  # since the epoch of the file
    dur_ns: Any
    stream: Any
    correlation: Any
    partner: Any  # of an operation: the row of its launch, of a launch: of its last operation; -1: none
    kind: Any  # of an operation; -1 for other rows
    nbytes: Any
    gbps: Any

    @property
    def slices(self) -> int:
        return len(self.slice_ids)

    @property
    def operations(self) -> slice:
        return slice(self.slices, self.slices + self.op_count)

    def in_whole_us(self) -> bool:
        return not (np.any(self.ts_ns % 1000) or np.any(self.dur_ns % 1000))


def read(run: Run, path: str, symbols: TraceSymbolTable) -> Events:
    """The rows of a run with one recording."""
    host = run.table("slice", ["id", "name", "category", "pid", "tid", "depth", "parent_id", "ts_ns", "dur_ns", "correlation"])  # fmt: skip
    work = run.table("gpu_op", ["name", "kind", "class", "device", "stream", "launch_id", "ts_ns", "dur_ns", "correlation", "bytes", "bandwidth_gbps"])  # fmt: skip
    marks = run.table("gpu_annotation", ["name", "device", "stream", "ts_ns", "dur_ns"])
    return _joined(run, path, host.to_pandas(), work.to_pandas(), marks.to_pandas(), symbols)


def _joined(run: Run, path: str, host: Any, work: Any, marks: Any, symbols: TraceSymbolTable) -> Events:
    ids = host["id"].to_numpy()
    launches = _row_of(ids, _numbers(work["launch_id"], -1))
    none = np.full(len(marks), -1, np.int64)
    stream = _numbers(work["stream"], -1)
    start = run.table("trace", ["start_unix_ns"]).to_rows(1)[0]["start_unix_ns"]
    columns = {
        name: np.concatenate([_numbers(frame[name], 0) for frame in (host, work, marks)])
        for name in ("ts_ns", "dur_ns")
    }
    return Events(
        run, path, ids, len(work), _row_of(ids, _numbers(host["parent_id"], -1)), host["depth"].to_numpy(),
        name=np.concatenate([symbols.ids_of(frame["name"]) for frame in (host, work, marks)]),
        cat=_categories(host["category"], work["kind"], len(marks), symbols),
        pid=np.concatenate([_numbers(host["pid"], -1), _numbers(work["device"], -1), _numbers(marks["device"], -1)]),
        tid=np.concatenate([_numbers(host["tid"], -1), stream, _numbers(marks["stream"], -1)]),
        ts_ns=columns["ts_ns"] + (start or 0), dur_ns=columns["dur_ns"],
        stream=np.concatenate([np.full(len(host), -1, np.int64), stream, none]),
        correlation=np.concatenate([_numbers(host["correlation"], -1), _numbers(work["correlation"], -1), none]),
        partner=_partners(launches, len(host), len(marks)),
        kind=np.concatenate([np.full(len(host), -1, np.int8), _kinds(work), none.astype(np.int8)]),
        nbytes=np.concatenate([np.full(len(host), -1, np.int64), _numbers(work["bytes"], -1), none]),
        gbps=np.concatenate([np.zeros(len(host)), np.nan_to_num(work["bandwidth_gbps"].to_numpy(dtype=float)), np.zeros(len(marks))]),
    )  # fmt: skip


def _categories(host: Any, work: Any, marks: int, symbols: TraceSymbolTable) -> Any:
    renamed = [column.cat.rename_categories(lambda text: CATEGORIES.get(text, text)) for column in (host, work)]
    parts = [symbols.ids_of(column) for column in renamed]
    if marks:
        symbols.add_symbols([ANNOTATION_CATEGORY])
        parts.append(np.full(marks, symbols.sym_index[ANNOTATION_CATEGORY], np.int32))
    return np.concatenate(parts)


def _partners(launches: Any, slices: int, marks: int) -> Any:
    partner = np.full(slices + len(launches) + marks, -1, np.int64)
    known = launches >= 0
    partner[launches[known]] = slices + np.flatnonzero(known)
    partner[slices : slices + len(launches)] = launches
    return partner


def _kinds(work: Any) -> Any:
    memory = work["kind"].isin(["memcpy", "memset"]).to_numpy(dtype=bool)
    communication = (work["class"] == "communication").to_numpy(dtype=bool)
    return np.select([memory, communication], [MEMORY, COMMUNICATION], COMPUTATION).astype(np.int8)


@dataclass
class Times:
    """Starts and ends in `unit` of a microsecond: 1, or 1000 for nanoseconds."""

    start: Any
    end: Any
    unit: int


def times(events: Events) -> Times:
    """Whole microseconds where the recorder wrote such. Else nanoseconds; HTA moves starts and ends to whole microseconds."""
    if events.in_whole_us():
        return Times(events.ts_ns // 1000, (events.ts_ns + events.dur_ns) // 1000, 1)
    if not keeps_nanoseconds():
        written = events.ts_ns - base_ns(events.path)
        start = written // 1000 + (written % 1000) / 1000.0  # with the noise of 64 bits, as HTA
        end = start + events.dur_ns / 1000.0
        first, last = np.ceil(start).astype(np.int64), np.floor(end).astype(np.int64)
        base = base_ns(events.path) // 1000
        return Times(first + base, last + base, 1)
    return Times(events.ts_ns, events.ts_ns + events.dur_ns, 1000)


@functools.cache
def base_ns(path: str) -> int:
    """The time that the file says is to be added to its times; the tables have it added already."""
    with gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb") as file:
        found = re.search(rb'"baseTimeNanoseconds":\s*(\d+)', file.read())
    return int(found[1]) if found else 0


def frame(events: Events, at: Times, zero_ns: int, symbols: TraceSymbolTable) -> Any:
    """The rows as HTA's trace DataFrame, times from `zero_ns` on."""
    zero = zero_ns // 1000 if at.unit == 1 else zero_ns
    start, duration = at.start - zero, at.end - at.start
    index = np.arange(1, len(start) + 1)
    partner = np.where(events.partner >= 0, events.partner + 1, np.minimum(events.correlation, 0))
    made = pd.DataFrame(
        {
            "index": index, "cat": events.cat, "name": events.name, "pid": events.pid, "tid": events.tid,
            "ts": start if at.unit == 1 else start / at.unit, "dur": duration / at.unit, "stream": events.stream,
            "correlation": events.correlation, "bytes": events.nbytes, "memory_bw_gbps": events.gbps,
            "index_correlation": partner, "iteration": iterations(events, at, symbols),
            "end": (start + duration) / at.unit,
        },
        index=index,
    )  # fmt: skip
    for column in ("index", "stream", "correlation", "bytes", "index_correlation", "iteration"):
        made[column] = pd.to_numeric(made[column], downcast="integer")
    return made


def iterations(events: Events, at: Times, symbols: TraceSymbolTable) -> Any:
    """The number of the ProfilerStep that a row lies in, of an operation that of its launch; -1: none.

    HTA also takes annotations of the device for steps, which shift the steps of the host.
    """
    numbers = {symbols.sym_index[name]: int(found[1]) for name in symbols.sym_table if (found := STEP.match(name))}
    rows = np.flatnonzero(np.isin(events.name, list(numbers)))
    if not as_hta_does():
        rows = rows[rows < events.slices]
    found = np.full(len(at.start), -1, np.int64)
    on_host = events.stream < 0
    for row in rows:
        inside = on_host & (at.start >= at.start[row]) & (at.start < at.end[row])
        found[inside] = numbers[int(events.name[row])]
    launch = events.partner[events.operations]
    found[events.operations] = np.where(launch >= 0, found[launch], -1)
    return found
