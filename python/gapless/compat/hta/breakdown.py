# SPDX-License-Identifier: Apache-2.0
"""The time of the devices: busy and idle, kinds and names of kernels, annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import as_hta, plots
from .by_name import by_name_of, tables_of
from .intervals import length, together, union_of
from .reading import ANNOTATION_CATEGORY
from .symbols import COMMUNICATION, COMPUTATION, KINDS, MEMORY
from .trace import Trace, decode


def temporal_breakdown(trace: Trace, visualize: bool) -> Any:
    found = []
    for rank in trace.ranks:
        work = trace.work(rank)
        if not len(work):
            continue
        busy = union_of(work)
        whole = float(busy[1][-1] - busy[0][0])
        idle = whole - float(length(busy))
        compute = float(length(union_of(work.where(work.kind == COMPUTATION))))
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
    for rank in trace.ranks:
        work = trace.work(rank)
        parts = {kind: work.where(work.kind == kind) for kind in kinds}
        combined = as_hta.together if trace.as_hta else together
        for which, lasting in combined([union_of(part) for part in parts.values()]).items():
            name = " overlapping ".join(KINDS[kind] for place, kind in enumerate(kinds) if which >> place & 1)
            by_kind[name] = by_kind.get(name, 0) + lasting
        for kind, part in parts.items():
            found = by_name_of(part.name, part.lasting, num_kernels, duration_ratio, trace.symbol_table.sym_table)
            by_name.append(found | {"rank": rank, "kernel_type": KINDS[kind]})
    kernels = tables_of(by_name, ["kernel_type", "name", "rank"])
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
            _mark(found, by_stream[key], kernels, part, trace.as_hta)
    kernels["user_annotation"] = found
    if expand_names:
        decode(kernels, trace.symbol_table, shorten_names)
    return kernels.reset_index(drop=True)


def _mark(found: Any, places: Any, kernels: Any, marks: Any, as_hta: bool) -> None:
    """Writes the names of the marks of one stream; of several around a kernel the last, which is the shortest.

    HTA marks no kernel that took no time, which is what is left of many after it has rounded them.
    """
    start = kernels["ts"].to_numpy()[places]
    lasting = kernels["dur"].to_numpy()[places]
    end = start + lasting
    latest = np.maximum.accumulate(end)
    for first, last, name in zip(marks["ts"], marks["ts"] + marks["dur"], marks["name"]):
        low, high = np.searchsorted(latest, first, "right"), np.searchsorted(start, last, "left")
        inside = np.arange(low, max(low, high))
        chosen = (end[inside] > first) & (lasting[inside] > 0 if as_hta else True)
        found[places[inside[chosen]]] = name


def annotation_breakdown(
    trace: Trace, on_device: bool, visualize: bool, duration_ratio: float, num_kernels: int, kept: list[str] | None, renderer: str | None = None
) -> Any:  # fmt: skip
    category = trace.symbol_table.sym_index.get(ANNOTATION_CATEGORY if on_device else "user_annotation")
    if category is None:
        return None
    names = None if kept is None else trace.symbol_table.find_matched_symbols(kept)
    parts = []
    for rank, rows in trace.frames.items():
        marks = rows[rows["cat"] == category]
        columns = marks["name"].to_numpy(), marks["dur"].to_numpy()
        found = by_name_of(*columns, num_kernels, duration_ratio, trace.symbol_table.sym_table, names)
        parts.append(found | {"rank": rank})
    frame = tables_of(parts, ["rank", "name"])
    if visualize:
        plots.bars(frame, "rank", "sum (us)", "User annotations on each rank", renderer, color="name")
    return frame
