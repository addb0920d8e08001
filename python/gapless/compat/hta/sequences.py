# SPDX-License-Identifier: Apache-2.0
"""Sequences of kernels that operators of one name launch, and a copy of the recording in which they are marked."""

from __future__ import annotations

import logging
import os
from typing import Any

import numpy as np
import pandas as pd

from . import as_hta, plots
from .reading import base_ns
from .trace import Trace

logger = logging.getLogger("hta")
COLUMNS = ["pattern", "count", "GPU kernel duration (us)", "CPU op duration (us)"]


def frequent_sequences(
    trace: Trace, operator: str, folder: str, shortest: int, rank: int, most: int, visualize: bool, compress: bool
) -> Any:
    if not operator:
        logger.error("operator_name is empty")
        return pd.DataFrame()
    if not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        logger.error("output_dir %s is no folder that can be written to", folder)
        return pd.DataFrame()
    below = _kernels_as_hta if trace.as_hta else _kernels_below
    kernels, parents = below(trace, rank, operator)
    kernels = kernels[kernels.groupby("root")["root"].transform("size") >= shortest]
    if not len(kernels):
        logger.error("no operator with %r in its name launches %d kernels or more", operator, shortest)
        return pd.DataFrame()
    by_root = kernels.groupby("root").agg(kernels=("text", "|".join), gpu=("dur", "sum")).reset_index()
    rows = trace.rows(rank).loc[by_root["root"]]
    names = trace.symbol_table.texts(rows["name"])
    by_root["pattern"] = [f"{name}|{rest}" for name, rest in zip(names, by_root["kernels"])]
    by_root["cpu"] = rows["dur"].to_numpy()
    found = by_root.groupby("pattern").agg(count=("cpu", "size"), gpu=("gpu", "sum"), cpu=("cpu", "sum")).reset_index()
    found = found.sort_values(["count", "pattern"], ascending=[False, True], ignore_index=True)
    found = found.astype({"pattern": "str"}).set_axis(COLUMNS, axis=1)
    _write(trace, rank, folder, _marks(found.head(most), by_root, kernels, parents), compress)
    if visualize:
        plots.bars(found.head(most), "pattern", "count", f"Frequent sequences of rank {rank}")
    return found


def _kernels_below(trace: Trace, rank: int, operator: str) -> tuple[Any, dict[int, int]]:
    """The operations below the operators of that name that are outermost on their thread, with the operator's row as `root`, and the row
    around each row."""
    rows, events = trace.rows(rank), trace.events[rank]
    named = rows["name"].isin(trace.symbol_table.ids_where(lambda name: operator in name)).to_numpy()
    candidates = rows["index"].to_numpy()[named & (rows["index"] <= events.slices).to_numpy()] - 1
    by_thread = rows.loc[candidates + 1, ["pid", "tid"]].assign(depth=events.depths[candidates])
    least = by_thread.groupby(["pid", "tid"])["depth"].transform("min").to_numpy()
    roots = candidates[events.depths[candidates] == least] + 1
    parents = dict(enumerate(np.where(events.parents >= 0, events.parents + 1, -1).tolist(), 1))
    work = trace.gpu_rows(rank)
    return _with_roots(trace, work, set(roots.tolist()), parents), parents


def _kernels_as_hta(trace: Trace, rank: int, operator: str) -> tuple[Any, dict[int, int]]:
    """The same with one depth for all threads, as HTA."""
    rows = trace.rows(rank)
    stacks = as_hta.Stacks(rows, trace.symbol_table)
    named = rows["index"][rows["name"].isin(trace.symbol_table.ids_where(lambda name: operator in name))].tolist()
    least = min((stacks.depth.get(row, -1) for row in named), default=-1)
    roots = {row for row in named if stacks.depth.get(row, -1) == least}
    work = trace.gpu_rows(rank)
    return _with_roots(trace, work[work["stream"] > 0], roots, stacks.parent), stacks.parent


def _with_roots(trace: Trace, work: Any, roots: set[int], parents: dict[int, int]) -> Any:
    work = work[work["index_correlation"] > 0].sort_values("ts", kind="stable")
    found = []
    for row in work["index_correlation"].tolist():
        while row >= 0 and row not in roots:
            row = parents.get(row, -1)
        found.append(row)
    return work.assign(root=found, text=trace.symbol_table.texts(work["name"]))[np.array(found, np.int64) >= 0]


def _marks(patterns: Any, by_root: Any, kernels: Any, parents: dict[int, int]) -> dict[int, dict[str, int]]:
    """The patterns that each row is part of: operators, all that is between them and their kernels, and these."""
    counts = {pattern: int(calls) for pattern, calls in zip(patterns["pattern"], patterns["count"])}
    pattern_of = {root: pattern for root, pattern in zip(by_root["root"], by_root["pattern"]) if pattern in counts}
    marks: dict[int, dict[str, int]] = {}
    for row, root, above in zip(kernels["index"], kernels["root"], kernels["index_correlation"]):
        pattern = pattern_of.get(root)
        if pattern is None:
            continue
        at = int(above)
        for one in (int(row), *_way(at, int(root), parents)):
            marks.setdefault(one, {})[pattern] = counts[pattern]
    return marks


def _way(row: int, root: int, parents: dict[int, int]) -> list[int]:
    """From a row up to its root."""
    found = [row]
    while found[-1] != root:
        found.append(parents[found[-1]])
    return found


def _write(trace: Trace, rank: int, folder: str, marks: dict[int, dict[str, int]], compress: bool) -> None:
    """Writes the file with args.Patterns at the marked events; the args of other spans are left out to save space."""
    content = trace.get_raw_trace_for_one_rank(rank)
    events = content["traceEvents"]
    by_place = marks if trace.as_hta else _places(trace, rank, marks, events)
    for place, one in enumerate(events):
        if one.get("ph") != "X":
            continue
        if place in by_place:
            one["args"] = {**one.get("args", {}), "Patterns": by_place[place]}
        elif compress:
            one["args"] = {}
    name = "overlaid_" + os.path.basename(trace.trace_files[rank])
    trace.write_raw_trace(os.path.join(folder, name), content)


def _places(
    trace: Trace, rank: int, marks: dict[int, dict[str, int]], events: list[dict[str, Any]]
) -> dict[int, dict[str, int]]:
    """The marks by the place of their event in the file, which is the one of that name at that time."""
    rows, names = trace.events[rank], trace.symbol_table.sym_table
    base = base_ns(trace.trace_files[rank])
    by_time: dict[tuple[Any, float], dict[str, int]] = {}
    for row, patterns in marks.items():
        whole, rest = divmod(int(rows.ts_ns[row - 1]) - base, 1000)
        by_time.setdefault((names[rows.name[row - 1]], round(whole + rest / 1000, 3)), {}).update(patterns)
    found = {}
    for place, one in enumerate(events):
        if one.get("ph") == "X" and isinstance(one.get("ts"), (int, float)):
            marked = by_time.get((one.get("name"), round(float(one["ts"]), 3)))
            if marked:
                found[place] = marked
    return found
