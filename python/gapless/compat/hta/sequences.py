# SPDX-License-Identifier: Apache-2.0
"""Sequences of kernels that operators of one name launch, and a copy of the recording in which they are marked."""

from __future__ import annotations

import logging
import os
from typing import Any

import numpy as np
import pandas as pd

from . import plots
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
    kernels = _kernels_below(trace, rank, operator, shortest)
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
    _write(trace, rank, folder, _marks(trace, rank, found.head(most), by_root, kernels), compress)
    if visualize:
        plots.bars(found.head(most), "pattern", "count", f"Frequent sequences of rank {rank}")
    return found


def _kernels_below(trace: Trace, rank: int, operator: str, shortest: int) -> Any:
    """The operations below the operators of that name that are outermost on their thread, with the operator's row as `root`."""
    rows, events = trace.rows(rank), trace.events[rank]
    named = rows["name"].isin(trace.symbol_table.ids_where(lambda name: operator in name)).to_numpy()
    candidates = rows["index"].to_numpy()[named & (rows["index"] <= events.slices).to_numpy()] - 1
    if not len(candidates):
        return rows.iloc[:0]
    by_thread = rows.loc[candidates + 1, ["pid", "tid"]].assign(depth=events.depths[candidates])
    least = by_thread.groupby(["pid", "tid"])["depth"].transform("min").to_numpy()
    is_root = np.zeros(events.slices, bool)
    is_root[candidates] = events.depths[candidates] == least
    work = trace.gpu_rows(rank)
    work = work[work["index_correlation"] > 0].sort_values("ts", kind="stable")
    above = work["index_correlation"].to_numpy() - 1
    for _ in range(int(events.depths.max(initial=0))):
        above = np.where((above >= 0) & ~is_root[above], events.parents[above], above)
    inside = (above >= 0) & is_root[above]
    found = work[inside].assign(root=above[inside] + 1, text=trace.symbol_table.texts(work["name"])[inside])
    return found[found.groupby("root")["root"].transform("size") >= shortest]


def _marks(trace: Trace, rank: int, patterns: Any, by_root: Any, kernels: Any) -> dict[int, dict[str, int]]:
    """The patterns that each row is part of: operators, all that is between them and their kernels, and these."""
    parents = trace.events[rank].parents
    counts = {pattern: int(calls) for pattern, calls in zip(patterns["pattern"], patterns["count"])}
    pattern_of = {root: pattern for root, pattern in zip(by_root["root"], by_root["pattern"]) if pattern in counts}
    marks: dict[int, dict[str, int]] = {}
    for row, root, above in zip(kernels["index"], kernels["root"], kernels["index_correlation"]):
        pattern = pattern_of.get(root)
        if pattern is None:
            continue
        marks.setdefault(row - 1, {})[pattern] = counts[pattern]
        at = above - 1
        while at >= root - 1:
            marks.setdefault(at, {})[pattern] = counts[pattern]
            at = int(parents[at])
    return marks


def _write(trace: Trace, rank: int, folder: str, marks: dict[int, dict[str, int]], compress: bool) -> None:
    """Writes the file with args.Patterns at the marked events; the args of other spans are left out to save space."""
    content, events = trace.get_raw_trace_for_one_rank(rank), trace.events[rank]
    base = int(content.get("baseTimeNanoseconds") or 0)
    names = trace.symbol_table.sym_table
    by_place: dict[tuple[Any, float], dict[str, int]] = {}
    for row, patterns in marks.items():
        whole, rest = divmod(int(events.ts_ns[row]) - base, 1000)
        by_place.setdefault((names[events.name[row]], round(whole + rest / 1000, 3)), {}).update(patterns)
    for one in content["traceEvents"]:
        if one.get("ph") != "X" or not isinstance(one.get("ts"), (int, float)):
            continue
        found = by_place.get((one.get("name"), round(float(one["ts"]), 3)))
        if found:
            one["args"] = {**one.get("args", {}), "Patterns": found}
        elif compress:
            one["args"] = {}
    name = "overlaid_" + os.path.basename(trace.trace_files[rank])
    trace.write_raw_trace(os.path.join(folder, name), content)
