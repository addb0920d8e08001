# SPDX-License-Identifier: Apache-2.0
"""The time of the devices: busy and idle, kinds and names of kernels, annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import plots
from .intervals import length, together, union_of
from .reading import ANNOTATION_CATEGORY
from .symbols import COMMUNICATION, COMPUTATION, KINDS, MEMORY, as_hta_does
from .trace import Trace, decode

STATISTICS = {"sum": "sum (us)", "max": "max (us)", "min": "min (us)", "std": "stddev", "mean": "mean (us)"}


def temporal_breakdown(trace: Trace, visualize: bool) -> Any:
    found = []
    for rank in trace.frames:
        rows = trace.gpu_rows(rank)
        if not len(rows):
            continue
        busy = union_of(rows)
        whole = float(busy[1][-1] - busy[0][0])
        idle = whole - float(length(busy))
        compute = float(length(union_of(rows[rows["kind"] == COMPUTATION])))
        found.append((rank, idle, compute, whole - compute - idle, whole))
    names = ["idle_time", "compute_time", "non_compute_time"]
    frame = pd.DataFrame(found, columns=["rank", *(f"{name}(us)" for name in names), "kernel_time(us)"])
    for name in names:
        frame[f"{name}_pctg"] = (100 * (frame[f"{name}(us)"] / frame["kernel_time(us)"])).round(2)
    if visualize:
        plots.bars(frame, "rank", [f"{name}_pctg" for name in names], "Temporal breakdown across ranks")
    return frame


def kernel_breakdown(
    trace: Trace, visualize: bool, duration_ratio: float, num_kernels: int, with_memory: bool, renderer: str
) -> tuple[Any, Any]:
    kinds = [COMPUTATION, COMMUNICATION, *([MEMORY] if with_memory else [])]
    by_kind: dict[str, Any] = {}
    by_name = []
    for rank in trace.frames:
        rows = trace.gpu_rows(rank)
        rows["name"] = trace.symbol_table.texts(rows["name"])
        for which, lasting in together([union_of(rows[rows["kind"] == kind]) for kind in kinds]).items():
            name = " overlapping ".join(KINDS[kind] for place, kind in enumerate(kinds) if which >> place & 1)
            by_kind[name] = by_kind.get(name, 0) + lasting
        for kind in kinds:
            part = _by_name(rows[rows["kind"] == kind], num_kernels, duration_ratio)
            by_name.append(part.assign(kernel_type=KINDS[kind], rank=int(rank)))
    kernels = _named(by_name, ["kernel_type", "name", "rank"], ["kernel_type", "rank"])
    types = _types(by_kind)
    if visualize:
        plots.pie(types[types["percentage"] > 0], "percentage", "kernel_type", "Kernel types of all ranks", renderer)
        for kind_name, part in kernels.groupby("kernel_type"):
            plots.bars(part, "rank", "sum (us)", f"Kernels of type {kind_name}", renderer, color="name")
    return types, kernels


def _types(by_kind: dict[str, Any]) -> Any:
    frame = pd.DataFrame({"kernel_type": pd.Series(list(by_kind), dtype="str"), "sum": list(by_kind.values())})
    whole = bool(((frame["sum"] % 1) == 0).all())
    frame["sum"] = frame["sum"].astype("int64" if whole else "float64")
    frame = frame.sort_values("kernel_type").sort_values("sum", ascending=False, ignore_index=True, kind="stable")
    frame["percentage"] = (frame["sum"] / frame["sum"].sum() * 100).round(1)
    return frame


def _by_name(rows: Any, most: int, duration_ratio: float, kept: list[str] | None = None) -> Any:
    """Statistics of durations by name, largest sum first; beyond `most` names or the quantile of running sums: "others".

    HTA makes the statistics anew from the sums of names where there are more than `most`, so that they say nothing.
    """
    wanted = list(STATISTICS)
    found = _statistics(rows, "dur", wanted)
    if len(found) <= most:
        return found
    running = found["sum"].cumsum()
    rest = (running > running.quantile(duration_ratio)) | (found.index >= most)
    if kept is not None:
        rest &= ~found["name"].isin(kept)
    if as_hta_does():
        found["name"] = found["name"].mask(rest, "others")
        regrouped = found.groupby("name")["sum"].agg(wanted).reset_index()
        return regrouped.fillna({"std": 0})
    named = rows.assign(name=rows["name"].where(~rows["name"].isin(set(found["name"][rest])), "others"))
    return _statistics(named, "dur", wanted)


def _statistics(rows: Any, column: str, wanted: list[str]) -> Any:
    found = rows.groupby("name")[column].agg(wanted).reset_index()
    return found.sort_values("sum", ascending=False, ignore_index=True).fillna({"std": 0})


def _named(parts: list[Any], order: list[str], more: list[str]) -> Any:
    columns = ["name", *STATISTICS, *more]
    full = [part for part in parts if len(part)]
    frame = pd.concat(full, ignore_index=True)[columns] if full else pd.DataFrame({name: [] for name in columns})
    types = {name: "float64" for name in STATISTICS} | {"name": "str", "rank": "int64"}
    if "kernel_type" in columns:
        types["kernel_type"] = "str"
    return frame.astype(types).sort_values(by=order, ignore_index=True).rename(columns=STATISTICS)


def kernels_with_annotations(trace: Trace, rank: int, expand_names: bool, shorten_names: bool) -> Any:
    rows = trace.rows(rank)
    category = trace.symbol_table.sym_index.get(ANNOTATION_CATEGORY)
    if category is None:
        return None
    marks = rows[rows["cat"] == category].sort_values("dur", ascending=False, kind="stable")
    kernels = rows[(rows["stream"] >= 0) & (rows["correlation"] >= 0)].sort_values("ts", kind="stable")
    found = np.full(len(kernels), -1, np.int64)
    places = kernels[["pid", "tid"]].assign(at=np.arange(len(kernels))).groupby(["pid", "tid"])["at"]
    by_stream = {key: at.to_numpy() for key, at in places}
    for key, part in marks.groupby(["pid", "tid"], sort=False):
        if key in by_stream:
            _mark(found, by_stream[key], kernels, part)
    kernels["user_annotation"] = found
    if expand_names:
        decode(kernels, trace.symbol_table, shorten_names)
    return kernels.reset_index(drop=True)


def _mark(found: Any, places: Any, kernels: Any, marks: Any) -> None:
    """Writes the names of the marks of one stream; of several around a kernel the last, which is the shortest."""
    start = kernels["ts"].to_numpy()[places]
    end = start + kernels["dur"].to_numpy()[places]
    latest = np.maximum.accumulate(end)
    for first, last, name in zip(marks["ts"], marks["ts"] + marks["dur"], marks["name"]):
        low, high = np.searchsorted(latest, first, "right"), np.searchsorted(start, last, "left")
        inside = np.arange(low, max(low, high))
        found[places[inside[end[inside] > first]]] = name


def annotation_breakdown(
    trace: Trace, on_device: bool, visualize: bool, duration_ratio: float, num_kernels: int, kept: list[str] | None, renderer: str | None = None
) -> Any:  # fmt: skip
    category = trace.symbol_table.sym_index.get(ANNOTATION_CATEGORY if on_device else "user_annotation")
    if category is None:
        return None
    names = None if kept is None else trace.symbol_table.find_matched_symbols(kept)
    parts = []
    for rank, rows in trace.frames.items():
        marks = rows[rows["cat"] == category].copy()
        marks["name"] = trace.symbol_table.texts(marks["name"])
        parts.append(_by_name(marks, num_kernels, duration_ratio, names).assign(rank=int(rank)))
    frame = _named(parts, ["rank", "name"], ["rank"])
    if visualize:
        plots.bars(frame, "rank", "sum (us)", "User annotations on each rank", renderer, color="name")
    return frame
