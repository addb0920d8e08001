# SPDX-License-Identifier: Apache-2.0
"""Values over time: operations that wait in streams, bandwidth of copies, and traces that show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import as_hta
from .launches import launched
from .symbols import HTA_QUEUED_LAUNCHES, KERNEL_LAUNCH, MEMORY, MEMORY_LAUNCH, as_hta_does
from .trace import Trace, ranks_of

FULL_QUEUE = 1024
PREFIX = len("Memcpy DtoH")


def queue_length_series(trace: Trace, ranks: Sequence[int] | None) -> dict[int, Any]:
    names = trace.symbol_table.ids_where(_is_queued)
    found = {rank: _queue_of(trace, rank, names) for rank in ranks_of(ranks)}
    return {rank: frame for rank, frame in found.items() if len(frame)}


def _is_queued(name: str) -> bool:
    if as_hta_does():
        return name in HTA_QUEUED_LAUNCHES
    return bool(KERNEL_LAUNCH.match(name) or MEMORY_LAUNCH.match(name))


def _queue_of(trace: Trace, rank: int, names: Any) -> Any:
    """One more at each launch, one less where the operation begins; at the same time the launch comes first."""
    if trace.as_hta:
        return as_hta.queue_lengths(trace.rows(rank), names)
    work, calls = launched(trace, rank, names)
    place = work[["pid", "tid", "stream"]]
    begun = place.assign(ts=work["ts"], change=-1)
    waiting = place.set_index(calls.index).assign(ts=calls["ts"], change=1)
    both = pd.concat([waiting, begun]).sort_values("ts", kind="stable").sort_values("stream", kind="stable")
    both["queue_length"] = both.groupby("stream")["change"].cumsum()
    both.index.name = "index"
    return both[["ts", "pid", "tid", "stream", "queue_length"]]


def queue_length_summary(series: dict[int, Any]) -> Any:
    found = [
        frame.assign(rank=rank)[["rank", "stream", "queue_length"]].groupby(["rank", "stream"]).describe()
        for rank, frame in series.items()
    ]
    return pd.concat(found) if found else None


def time_on_full_queue(trace: Trace, series: dict[int, Any], full: int) -> Any:
    """The time in which each stream's queue was full. HTA keeps only the last stream of a rank."""
    found = []
    for rank, frame in series.items():
        lasting = frame.groupby("stream")["ts"].shift(-1) - frame["ts"]
        blocked = lasting[(frame["queue_length"] >= full).to_numpy()]
        streams = frame["stream"][(frame["queue_length"] >= full).to_numpy()]
        rows = [(rank, stream, total) for stream, total in blocked.groupby(streams.to_numpy()).sum().items()]
        found += rows[-1:] if as_hta_does() else rows
    columns = ["rank", "stream", "duration_at_max_queue_length"]
    stream = next(iter(series.values()))["stream"].dtype if found else np.int64
    made = pd.DataFrame(found, columns=columns).astype({"rank": np.int64, "stream": stream, columns[2]: np.float64})
    whole = made["rank"].map(trace.get_trace_duration)
    return made.assign(relative_duration_at_max_queue_length=made["duration_at_max_queue_length"] / whole)


def memory_bandwidth_series(trace: Trace, ranks: Sequence[int] | None) -> dict[int, Any]:
    found = {rank: _bandwidth_of(trace, rank) for rank in ranks_of(ranks)}
    return {rank: frame for rank, frame in found.items() if len(frame)}


def _copy_name(name: str) -> str:
    if name.startswith("Memset"):
        return "Memset"
    return name[:PREFIX] if name.startswith("Memcpy") else "Memcpy Unknown"


def _bandwidth_of(trace: Trace, rank: int) -> Any:
    """The bandwidth of copies that run, by their kind; at the same time the end of one comes before the start of another."""
    work = trace.gpu_rows(rank)
    copies = work[work["kind"] == MEMORY]
    texts = trace.symbol_table.texts(copies["name"])
    names = pd.Series([_copy_name(name) for name in texts], index=copies.index, dtype="str")
    starts = copies[["ts", "pid", "memory_bw_gbps"]].assign(name=names)
    lasting = copies["dur"].mask(copies["dur"] == 0, 1)
    ends = starts.assign(ts=starts["ts"] + lasting, memory_bw_gbps=-starts["memory_bw_gbps"])
    if trace.as_hta:
        both = pd.concat([starts, ends], ignore_index=True).sort_values("ts")
    else:
        both = pd.concat([ends, starts], ignore_index=True).sort_values("ts", kind="stable")
    both = both.sort_values("name", kind="stable")
    sums = both.groupby("name")["memory_bw_gbps"]
    # Sums of groups are made with less error than HTA's of one name after the other.
    both["memory_bw_gbps"] = sums.transform(lambda part: part.cumsum()) if trace.as_hta else sums.cumsum()
    return both[["ts", "pid", "name", "memory_bw_gbps"]]


def memory_bandwidth_summary(trace: Trace, ranks: Sequence[int] | None) -> Any:
    found = []
    for rank, frame in memory_bandwidth_series(trace, ranks).items():
        moving = frame.assign(rank=rank)
        moving = moving[moving["memory_bw_gbps"] > _nothing(frame)]
        found.append(moving[["rank", "name", "memory_bw_gbps"]].groupby(["rank", "name"]).describe())
    return pd.concat(found) if found else None


def _nothing(frame: Any) -> float:
    """Sums of what began and ended again are not quite 0; HTA takes any that is larger for a bandwidth."""
    return 0.0 if as_hta_does() else 1e-9 * float(np.abs(frame["memory_bw_gbps"]).max())


def events_of(frame: Any, zero: float, name: str, column: str) -> list[dict[str, Any]]:
    """The series as counters of a Chrome trace, whose time is `zero` where the frame's is 0."""
    shown = frame[["pid", "ts"]].assign(ts=frame["ts"] + zero, ph="C")
    shown["name"] = frame["name"] if "name" in frame.columns else name
    if "stream" in frame.columns:
        shown["id"] = frame["stream"]
    shown["args"] = [{name: value} for value in frame[column].tolist()]
    records: list[dict[str, Any]] = shown.to_dict("records")
    return records


def write_with_counters(trace: Trace, series: dict[str, tuple[dict[int, Any], str]], suffix: str) -> None:
    """Writes a copy of each file with these series: their names, frames by rank and columns."""
    ranks = sorted({rank for frames, _ in series.values() for rank in frames})
    for rank in ranks:
        content = trace.get_raw_trace_for_one_rank(rank)
        zero = trace.file_time_of_zero(trace.trace_files[rank])
        for name, (frames, column) in series.items():
            if rank in frames:
                content["traceEvents"].extend(events_of(frames[rank], zero, name, column))
        trace.write_raw_trace(trace.trace_files[rank].replace(".json", f"{suffix}.json"), content)
