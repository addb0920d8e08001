# SPDX-License-Identifier: Apache-2.0
"""The rows of one rank as HTA numbers and names them, from the tables of gapless.

Columns come from the library as NumPy arrays, only when something needs them: what a DataFrame of every row takes is most of the time for
small recordings.
"""

from __future__ import annotations

import ctypes
import functools
import gzip
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ... import native
from ...cells import texts_of
from ...frames import Memory, absent_in, batches, schema_of, values_in
from ...run import Run
from .symbols import COMMUNICATION, COMPUTATION, MEMORY, STEP, TraceSymbolTable

CATEGORIES = {
    "operator": "cpu_op", "annotation": "user_annotation", "python": "python_function", "runtime": "cuda_runtime",
    "driver": "cuda_driver", "kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset",
}  # fmt: skip
ANNOTATION_CATEGORY = "gpu_user_annotation"
KINDS = {b"l": np.int64, b"g": np.float64, b"i": np.int32}


class Texts:
    """A column of texts: a number for each row, -1 where it has none, and the texts."""

    def __init__(self, codes: Any, texts: list[str]) -> None:
        self.codes, self.texts = codes, texts

    def used(self) -> Any:
        """The numbers that occur."""
        seen = np.zeros(len(self.texts) + 1, bool)
        seen[self.codes] = True
        return np.flatnonzero(seen[:-1])

    def mapped(self, values: dict[str, int], other: int) -> Any:
        """A number for each row by its text."""
        table = np.array([*(values.get(text, other) for text in self.texts), other], np.int8)
        return table[self.codes]


def columns_of(run: Run, table: str, names: Sequence[str], absent: int = -1) -> dict[str, Any]:
    """Columns of a table as arrays: integers with a number for what is absent, reals with NaN, texts as Texts."""
    stream = native.ArrowArrayStream()
    handle = run._table("gapless_find", table)
    native.ask("gapless_table_export", handle, native.texts(names), len(names), ctypes.byref(stream))
    schema = schema_of(stream)
    parts = batches(stream)
    fields = [schema.held.children[at].contents for at in range(len(names))]
    return {name: _column(parts, at, field, absent) for at, (name, field) in enumerate(zip(names, fields))}


def _column(parts: list[Memory], at: int, field: native.ArrowSchema, absent: int) -> Any:
    kind = KINDS[field.format]
    found: list[Any] = []
    texts: list[str] = []
    for memory in parts:
        array = memory.held.children[at].contents
        values, missing = values_in(memory, array.buffers[1], array.length, kind), absent_in(memory, array)
        if missing is not None:
            values = np.where(
                missing, np.nan if field.format == b"g" else kind(-1 if field.dictionary else absent), values
            )
        if field.dictionary and not found:
            texts = texts_of(array.dictionary.contents, field.dictionary.contents.format == b"U")
        found.append(values)
    whole = found[0] if len(found) == 1 else np.concatenate([np.zeros(0, kind), *found])
    return Texts(whole, texts) if field.dictionary else whole


def _row_of(ids: Any, wanted: Any) -> Any:
    """At which place of the sorted `ids` each wanted one stands; -1 where it is not there."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, at, -1)


class Events:
    """Rows of one rank: host slices, then device operations, then annotations of the device, each sorted by time.

    Column `index` of a row's frame is its place here plus one, so that 0 and -1 stay free for what HTA means by them.
    """

    def __init__(self, run: Run, path: str) -> None:
        self.run, self.path = run, path
        about = columns_of(run, "trace", ["rank", "start_unix_ns"])
        self.rank = int(about["rank"][0]) if len(about["rank"]) else -1
        self.host = columns_of(run, "slice", ["id", "name", "category", "ts_ns", "dur_ns", "correlation"])
        self.work = columns_of(run, "gpu_op", ["name", "kind", "class", "stream", "launch_id", "ts_ns", "dur_ns", "correlation"])  # fmt: skip
        self.marks = columns_of(run, "gpu_annotation", ["name", "ts_ns", "dur_ns"])
        self.slices, self.op_count, self.mark_count = (len(one["ts_ns"]) for one in (self.host, self.work, self.marks))
        started = max(int(about["start_unix_ns"][0]), 0) if len(about["rank"]) else 0
        self.ts_ns = self._all("ts_ns") + started  # since the epoch of the file
        self.dur_ns = self._all("dur_ns")
        self.launches = _row_of(self.host["id"], self.work["launch_id"])
        self.name = np.zeros(0, np.int32)
        self.kept: Any = None  # a mask of the rows that the analyses see; None: all

    def _all(self, column: str) -> Any:
        return np.concatenate([one[column] for one in (self.host, self.work, self.marks)])

    def _none(self, kind: Any = np.int64) -> Any:
        return np.full(self.mark_count, -1, kind)

    def name_with(self, symbols: TraceSymbolTable) -> None:
        """Numbers the names, and the categories, which become symbols, too."""
        self.name = np.concatenate([symbols.ids_of(one["name"]) for one in (self.host, self.work, self.marks)])
        for column in (self.host["category"], self.work["kind"]):
            symbols.add_symbols(CATEGORIES.get(text, text) for text in (column.texts[code] for code in column.used()))
        symbols.add_symbols([ANNOTATION_CATEGORY] if self.mark_count else [])

    @property
    def operations(self) -> slice:
        return slice(self.slices, self.slices + self.op_count)

    @functools.cached_property
    def correlation(self) -> Any:
        return np.concatenate([self.host["correlation"], self.work["correlation"], self._none()])

    @functools.cached_property
    def stream(self) -> Any:
        return np.concatenate([np.full(self.slices, -1, np.int64), self.work["stream"], self._none()])

    @functools.cached_property
    def partner(self) -> Any:
        """For an operation the row of its launch, for a launch that of its last operation; -1: none."""
        found = np.full(self.slices + self.op_count + self.mark_count, -1, np.int64)
        known = self.launches >= 0
        found[self.launches[known]] = self.slices + np.flatnonzero(known)
        found[self.operations] = self.launches
        return found

    @functools.cached_property
    def kinds(self) -> Any:
        """The kind of each operation: a number of symbols.KINDS."""
        memory = self.work["kind"].mapped({"memcpy": 1, "memset": 1}, 0) == 1
        communication = self.work["class"].mapped({"communication": 1}, 0) == 1
        return np.select([memory, communication], [MEMORY, COMMUNICATION], COMPUTATION).astype(np.int8)

    @functools.cached_property
    def _nesting(self) -> dict[str, Any]:
        return columns_of(self.run, "slice", ["depth", "parent_id"])

    @property
    def depths(self) -> Any:
        return self._nesting["depth"]

    @functools.cached_property
    def parents(self) -> Any:
        """For each slice the row around it, or -1."""
        return _row_of(self.host["id"], self._nesting["parent_id"])

    @functools.cached_property
    def in_whole_us(self) -> bool:
        return not (np.any(self.ts_ns % 1000) or np.any(self.dur_ns % 1000))

    def times(self, zero_ns: int) -> tuple[Any, Any]:
        """Starts since `zero_ns` and durations in microseconds: starts are whole numbers where the recorder wrote such."""
        if self.in_whole_us:
            return self.ts_ns // 1000 - zero_ns // 1000, self.dur_ns / 1000
        return (self.ts_ns - zero_ns) / 1000, self.dur_ns / 1000


@functools.cache
def base_ns(path: str) -> int:
    """The time that the file says is to be added to its times; the tables have it added already."""
    with gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb") as file:
        found = re.search(rb'"baseTimeNanoseconds":\s*(\d+)', file.read())
    return int(found[1]) if found else 0


def frame(events: Events, zero_ns: int, symbols: TraceSymbolTable) -> Any:
    """The rows as HTA's trace DataFrame, times from `zero_ns` on."""
    start, lasting = events.times(zero_ns)
    host = columns_of(events.run, "slice", ["pid", "tid"])
    work = columns_of(events.run, "gpu_op", ["device", "bytes", "bandwidth_gbps"])
    marks = columns_of(events.run, "gpu_annotation", ["device", "stream"])
    index = np.arange(1, len(start) + 1)
    partner = np.where(events.partner >= 0, events.partner + 1, np.minimum(events.correlation, 0))
    end = (events.ts_ns - zero_ns + events.dur_ns) / 1000
    bytes_of = [np.full(events.slices, -1, np.int64), work["bytes"], events._none()]
    rates = [np.zeros(events.slices), np.nan_to_num(work["bandwidth_gbps"]), np.zeros(events.mark_count)]
    made = pd.DataFrame(
        {
            "index": index, "cat": _categories(events, symbols), "name": events.name,
            "pid": np.concatenate([host["pid"], work["device"], marks["device"]]),
            "tid": np.concatenate([host["tid"], events.work["stream"], marks["stream"]]),
            "ts": start, "dur": lasting, "stream": events.stream, "correlation": events.correlation,
            "bytes": np.concatenate(bytes_of), "memory_bw_gbps": np.concatenate(rates), "index_correlation": partner,
            "iteration": iterations(events, start, start + lasting, symbols), "end": end,
        },
        index=index,
    )  # fmt: skip
    for column in ("index", "stream", "correlation", "bytes", "index_correlation", "iteration"):
        made[column] = pd.to_numeric(made[column], downcast="integer")
    return made if events.kept is None else made[events.kept].copy()


def _categories(events: Events, symbols: TraceSymbolTable) -> Any:
    parts = [
        symbols.ids_of(Texts(one.codes, [CATEGORIES.get(text, text) for text in one.texts]))
        for one in (events.host["category"], events.work["kind"])
    ]
    annotation = symbols.sym_index.get(ANNOTATION_CATEGORY, -1)
    return np.concatenate([*parts, np.full(events.mark_count, annotation, np.int32)])


def iterations(events: Events, start: Any, end: Any, symbols: TraceSymbolTable) -> Any:
    """The number of the host's ProfilerStep that a row lies in, of an operation that of its launch; -1: none."""
    numbers = {symbols.sym_index[name]: int(found[1]) for name in symbols.sym_table if (found := STEP.match(name))}
    found = np.full(len(start), -1, np.int64)
    on_host = events.stream < 0
    for row in np.flatnonzero(np.isin(events.name[: events.slices], list(numbers))):
        found[on_host & (start >= start[row]) & (start < end[row])] = numbers[int(events.name[row])]
    launch = events.partner[events.operations]
    found[events.operations] = np.where(launch >= 0, found[launch], -1)
    return found
