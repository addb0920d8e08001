# SPDX-License-Identifier: Apache-2.0
"""The rows of a file as they were recorded, numbered by their place in it, with the arguments that HTA keeps.

The tables of gapless have neither those places nor every argument, so these rows come from the JSON itself. They are made when somebody
asks for them: the frames of `Trace.traces`, the critical path and the counters of CUPTI are about single events of the file.
"""

from __future__ import annotations

import contextlib
import gc
import gzip
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from .symbols import STEP, TraceSymbolTable, as_hta_does, keeps_nanoseconds

# Columns by the name of the argument, with the value of what has none.
ARGUMENTS: dict[str, tuple[str, Any]] = {
    "stream": ("stream", -1), "correlation": ("correlation", -1), "bytes": ("bytes", -1),
    "memory_bw_gbps": ("memory bandwidth (GB/s)", 0.0), "wait_on_stream": ("wait_on_stream", -1),
    "wait_on_cuda_event_record_corr_id": ("wait_on_cuda_event_record_corr_id", -1), "input_dims": ("Input Dims", "-1"),
    "input_type": ("Input type", "-1"), "input_strides": ("Input Strides", "-1"), "external_id": ("External id", -1),
    "python_id": ("Python id", -1), "python_parent_id": ("Python parent id", -1), "collective_name": ("Collective name", ""),
    "in_msg_nelems": ("In msg nelems", 0), "out_msg_nelems": ("Out msg nelems", 0), "msg_dtype": ("dtype", ""),
    "group_size": ("Group size", 0), "process_rank": ("Rank", -1), "in_split_size": ("In split size", "[]"),
    "out_split_size": ("Out split size", "[]"),
}  # fmt: skip
COUNTERS = "cuda_profiler_range"
LONG = 12  # digits of microseconds from which on 64 bits do not hold nanoseconds
DEVICE_SYNCS = ("Event Sync", "Context Sync")  # rows of the device without a stream


@contextlib.contextmanager
def many_objects() -> Iterator[None]:
    """Keeps the garbage collector from looking through objects that stay, again and again while they are made."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Exact(float):
    """A number of a file with the nanoseconds that 64 bits cannot hold beside the microseconds since 1970."""

    ns: int

    @classmethod
    def of(cls, text: str) -> float:
        whole, _, rest = text.partition(".")
        if len(whole) < LONG or not rest.isdigit():
            return float(text)
        made = cls(text)
        made.ns = int(whole) * 1000 + int(rest[:3].ljust(3, "0"))
        return made


def content_of(path: str, exact: bool = False) -> dict[str, Any]:
    """The JSON of a file; if `exact`, its large fractions as Exact."""
    with many_objects(), gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb") as file:
        found: dict[str, Any] = json.loads(file.read(), parse_float=Exact.of if exact else None)
    return found


def rows_of(events: list[dict[str, Any]], symbols: TraceSymbolTable, in_ns: bool = False) -> Any:
    """A row for each event with a duration and a category; its index is its place.

    Times are those of the file in microseconds, rounded as HTA does, or, if `in_ns`, starts in nanoseconds.
    """
    places = [
        at
        for at, event in enumerate(events)
        if event.get("dur") is not None and event.get("cat") is not None and event["cat"] != "Trace"
    ]
    chosen = [events[at] for at in places]
    made: dict[str, Any] = {"index": np.array(places, np.int64)}
    for column in ("cat", "name"):
        texts = [str(event.get(column, "")) for event in chosen]
        symbols.add_symbols(texts)
        made[column] = np.fromiter((symbols.sym_index[text] for text in texts), np.int32, len(texts))
    for column in ("pid", "tid"):
        made[column] = pd.Series([event.get(column) for event in chosen], index=places, dtype=None).to_numpy()
    made["ts"], made["dur"] = _exact_times(chosen) if in_ns else _times(events, chosen)
    made |= _arguments(chosen)
    return pd.DataFrame(made, index=np.array(places, np.int64))


def _exact_times(chosen: list[dict[str, Any]]) -> tuple[Any, Any]:
    starts = (event["ts"] for event in chosen)
    found = [start.ns if isinstance(start, Exact) else round(start * 1000) for start in starts]
    return np.array(found, np.int64), np.array([event["dur"] for event in chosen])


def _times(events: list[dict[str, Any]], chosen: list[dict[str, Any]]) -> tuple[Any, Any]:
    """Starts and durations. HTA moves starts and ends of a file with fractions to whole microseconds."""
    start = np.array([event["ts"] for event in chosen])
    duration = np.array([event["dur"] for event in chosen])
    fractions = any(isinstance(event.get("ts"), float) for event in events)
    if not fractions or keeps_nanoseconds():
        return start, duration
    end = np.floor(start + duration).astype(np.int64)
    start = np.ceil(start).astype(np.int64)
    return start, end - start


def _arguments(chosen: list[dict[str, Any]]) -> dict[str, Any]:
    arguments: list[dict[str, Any]] = [
        found if isinstance(found := event.get("args"), dict) else {} for event in chosen
    ]
    wanted = dict(ARGUMENTS)
    for event, found in zip(chosen, arguments):
        if event["cat"] == COUNTERS:
            wanted |= {name: (name, -1) for name in found if name not in wanted}
    used = set().union(*arguments)
    made = {}
    for column, (name, absent) in wanted.items():
        values = [found.get(name, absent) for found in arguments] if name in used else [absent] * len(chosen)
        made[column] = pd.Series(values).to_numpy()
    streams = pd.to_numeric(pd.Series(made["stream"]), errors="coerce").fillna(-1)
    return made | {"stream": streams.to_numpy().astype(np.int64)}


def on_device(rows: Any, symbols: TraceSymbolTable) -> Any:
    """Device work, and the recorder's rows of waits for the whole device and for events."""
    waits = [symbols.sym_index[name] for name in DEVICE_SYNCS if name in symbols.sym_index]
    work = (rows["stream"] >= 0) & (rows["correlation"] >= 0)
    return (work | rows["name"].isin(waits)).to_numpy()


def since(rows: Any, zero_ns: int) -> Any:
    """The rows with starts in microseconds since `zero_ns`: whole numbers where all are."""
    starts = rows["ts"] - zero_ns
    rows["ts"] = starts // 1000 if not (starts % 1000).any() else starts / 1000
    return rows


def completed(rows: Any, zero: float, symbols: TraceSymbolTable) -> Any:
    """The rows with what HTA derives: partners by correlation, numbers of steps, ends; HTA's times from `zero` on."""
    rows["index_correlation"] = _partners(rows, on_device(rows, symbols))
    rows["iteration"] = _iterations(rows, symbols)
    rows["end"] = (rows["ts"] + rows["dur"]).round(3)
    rows["ts"] = rows["ts"] - zero  # not the ends, which HTA leaves where they were
    return rows


def _partners(rows: Any, device: Any) -> Any:
    """For a call the place of the last operation with its correlation, for an operation that of the last call; 0: none, -1: no number."""
    found = np.minimum(rows["correlation"].to_numpy(), 0)
    linked = rows["correlation"].to_numpy() != -1
    sides = [rows[linked & side] for side in (~device, device)]
    for one, other in (sides, sides[::-1]):
        last = other.drop_duplicates("correlation", keep="last").set_index("correlation")["index"]
        partner = one["correlation"].map(last)
        known = partner.notna()
        found[rows.index.get_indexer(one.index[known])] = partner[known].astype(np.int64)
    return found


def _iterations(rows: Any, symbols: TraceSymbolTable) -> Any:
    numbers = {symbols.sym_index[name]: int(found[1]) for name in symbols.sym_table if (found := STEP.match(name))}
    start, stream = rows["ts"].to_numpy(), rows["stream"].to_numpy()
    is_operator = rows["cat"].to_numpy() == symbols.sym_index.get("cpu_op", -1)
    on_host = (stream < 0) | ((stream == 0) & is_operator)
    found = np.full(len(rows), -1, np.int64)
    marks = rows[rows["name"].isin(list(numbers))]
    if not as_hta_does():
        marks = marks[marks["cat"] != symbols.sym_index.get("gpu_user_annotation", -1)]
    for first, lasting, name in zip(marks["ts"], marks["dur"], marks["name"]):
        found[on_host & (start >= first) & (start < first + lasting)] = numbers[name]
    least = 1 if as_hta_does() else 0  # HTA knows no step of what runs on stream 0
    work = (stream >= least) & ~on_host
    partner = rows["index_correlation"].to_numpy()
    at = rows.index.get_indexer(partner)
    found[work] = np.where((partner[work] > 0) & (at[work] >= 0), found[at[work]], -1)
    unknown = (stream == 0) & ~is_operator
    return np.where(unknown, np.nan, found) if as_hta_does() and unknown.any() else found


def in_order(rows: Any) -> list[tuple[int, bool]]:
    """Starts and ends by time; at the same time ends come first, then the longer start and the shorter end.

    A row that takes no time lies in the one that starts then, or else in the one that ends then.
    """
    place, start, lasting = rows["index"].to_numpy(), rows["ts"].to_numpy(), rows["dur"].to_numpy()
    at = np.concatenate([start, start + lasting]).round(
        3
    )  # sums of 64-bit floating point are off by less than a nanosecond
    is_start = np.repeat([True, False], len(rows))
    rank = is_start.astype(np.int8)
    timeless = np.tile(lasting == 0, 2)
    if timeless.any():
        in_start = np.isin(at[timeless], start[lasting != 0])
        rank[timeless] = np.where(in_start, 2, -2) + ~is_start[timeless]
    inner, later = np.concatenate([-lasting, lasting]), np.concatenate([place, -place])
    order = np.lexsort((later, inner, rank, at))
    return list(zip(np.tile(place, 2)[order].tolist(), is_start[order].tolist()))
