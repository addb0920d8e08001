# SPDX-License-Identifier: Apache-2.0
"""Answers of TraceAnalysis about a recording, in the layout of the stored answers; made of ours or of HTA's own by the same calls."""

from __future__ import annotations

import contextlib
import io
import math
import os
import tempfile
from collections.abc import Callable
from typing import Any

from oracle import Comparison

KEYS = (
    "rank", "rank/", "stream", "stream/", "kernel_type", "name", "name/", "idle_category", "ts", "correlation",
    "queue_length", "memory_bw_gbps", "aten_op_name", "kernel_sequence", "pattern", "begin", "end", "index", "index_runtime",
    "event", "id", "type", "event_idx", "bound_by",
)  # fmt: skip
EVERY_NAME = 10**6
SOME = 3  # names, so that others are put together


def table(frame: Any) -> dict[str, Any] | None:
    """A DataFrame as columns, kinds of their types and rows; its named index becomes columns."""
    if frame is None:
        return None
    named = [name for name in frame.index.names if name is not None and name != "index"]
    frame = frame.reset_index(named) if named else frame
    columns = [name if isinstance(name, str) else "/".join(name) for name in frame.columns]
    # Columns that HTA reads as int32 are int64 here; texts are "str" or "object" by the version of pandas.
    kinds = ["f" if dtype.kind in "iuf" else "text" for dtype in frame.dtypes]
    rows = [
        [None if isinstance(value, float) and math.isnan(value) else value for value in row]
        for row in frame.astype(object).itertuples(index=False, name=None)
    ]
    return {"columns": columns, "kinds": kinds, "rows": rows}


def launches(frames: dict[int, Any]) -> dict[str, Any]:
    found = {}
    for rank, frame in frames.items():
        entry: dict[str, Any] = {"count": len(frame)}
        for name in ("cpu_duration", "gpu_duration", "launch_delay") if len(frame) else ():
            values = frame[name]
            entry[name] = {
                "sum": values.sum(), "min": values.min(), "max": values.max(), "median": values.median(),
                "mean": values.mean(),
            }  # fmt: skip
        found[str(rank)] = entry
    return found


def _kernels(found: tuple[Any, Any]) -> dict[str, Any]:
    types, names = found
    return {"kernel_type": table(types), "all_kernel": table(names)}


def _idle(found: tuple[Any, Any]) -> dict[str, Any]:
    return {"idle": table(found[0]), "intervals": table(found[1])}


def _by_rank(frames: dict[int, Any]) -> dict[str, Any]:
    return {str(rank): table(frame.drop(columns="rank", errors="ignore")) for rank, frame in frames.items()}


ANNOTATED = ["ts", "dur", "stream", "correlation", "s_name", "s_cat", "s_user_annotation"]

SEQUENCES = ("aten::linear", "aten::conv2d", "aten::mm", "aten::copy_", "autograd::engine")


def _sequences(one: Any, ranks: list[int]) -> dict[str, Any]:
    found = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        for operator in SEQUENCES:
            frame = one.get_frequent_cuda_kernel_sequences(operator, folder, min_pattern_len=1, rank=ranks[0])
            found[operator] = table(frame) if len(frame) else None
    return found


def _recorded(one: Any, ranks: list[int]) -> Any:
    """The frame of the first rank, names as texts; paths of objects in memory and the like are no part of it."""
    frame = one.t.get_trace(ranks[0])
    names = one.t.symbol_table.get_sym_table()
    return frame.assign(name=[names[at] for at in frame["name"]], cat=[names[at] for at in frame["cat"]])


def _path(one: Any, ranks: list[int]) -> dict[str, Any]:
    """The graph of the second step, or of all where there are no steps."""
    steps = one.get_profiler_steps()
    with contextlib.redirect_stdout(io.StringIO()):
        found = one.critical_path_analysis(
            ranks[0], "ProfilerStep" if steps else "", (0 if len(steps) < 2 else 1) if steps else None
        )
        graph, success = found
        breakdown = graph.get_critical_path_breakdown() if success else None
        shares = dict(graph.summary()) if success else {}
    edges = sorted(
        (first, last, shown["object"].type.value, shown["object"].weight)
        for first, last, shown in graph.edges(data=True)
    )
    return {
        "success": int(success), "nodes": [[node.ev_idx, int(node.is_start)] for node in graph.node_list],
        "edges": {"columns": ["begin", "end", "type", "weight"], "rows": [list(edge) for edge in edges]},
        "attributed": sorted([*ends, event] for ends, event in graph.edge_to_event_map.items()),
        "path": list(graph.critical_path_nodes), "summary": shares,
        "breakdown": None if breakdown is None else table(breakdown.drop(columns=["cat", "pid", "tid"])),
    }  # fmt: skip


def _counters(one: Any, ranks: list[int]) -> Any:
    """The counters that are written into the file of the first rank, the last of each at the same time."""
    import pandas as pd

    written: list[Any] = []
    one.t.write_raw_trace = lambda path, content: written.append((os.path.basename(path), content))
    one.generate_trace_with_counters(ranks=ranks[:1])
    del one.t.write_raw_trace
    found = {}
    for name, content in written:
        counters = [event for event in content["traceEvents"] if event["ph"] == "C" and "args" in event]
        counters = [
            event | {"value": next(iter(event["args"].values()))} for event in counters if len(event["args"]) == 1
        ]
        frame = pd.DataFrame(counters)
        frame["id"] = frame.get("id", pd.Series(-1, index=frame.index)).fillna(-1)
        kept = frame[["ts", "pid", "name", "id", "value"]].drop_duplicates(["ts", "name", "id"], keep="last")
        found[name] = table(kept)
    return found


def _cupti(one: Any, ranks: list[int]) -> Any:
    frames = one.get_cupti_counter_data_with_operators(ranks)
    shown = []
    for frame in frames:
        kept = frame.drop(columns=[name for name in ("depth", "parent") if name in frame])
        shown.append(
            table(kept[sorted(kept.columns)].assign(op_stack=["|".join(stack) for stack in frame["op_stack"]]))
        )
    return {str(at): one for at, one in enumerate(shown)}


STORED: dict[str, Callable[[Any, list[int]], Any]] = {
    "profiler_steps": lambda one, ranks: [int(step) for step in one.get_profiler_steps()],
    "temporal_breakdown": lambda one, ranks: table(one.get_temporal_breakdown(visualize=False)),
    "gpu_kernel_breakdown": lambda one, ranks: _kernels(one.get_gpu_kernel_breakdown(visualize=False, num_kernels=EVERY_NAME)),
    "idle_time_breakdown": lambda one, ranks: _idle(
        one.get_idle_time_breakdown(ranks=ranks, visualize=False, show_idle_interval_stats=True)
    ),
    "comm_comp_overlap": lambda one, ranks: table(one.get_comm_comp_overlap(visualize=False)),
    "launch_stats": lambda one, ranks: launches(one.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)),
    "queue_length_summary": lambda one, ranks: table(one.get_queue_length_summary(ranks)),
    "memory_bw_summary": lambda one, ranks: table(one.get_memory_bw_summary(ranks)),
    "gpu_user_annotation_breakdown": lambda one, ranks: table(one.get_gpu_user_annotation_breakdown(visualize=False)),
}  # fmt: skip
LIVE: dict[str, Callable[[Any, list[int]], Any]] = {
    "recorded": _recorded,  # first: HTA writes into its frames
    **STORED,
    "some_kernels": lambda one, ranks: _kernels(one.get_gpu_kernel_breakdown(visualize=False, num_kernels=SOME)),
    "some_annotations": lambda one, ranks: table(
        one.get_gpu_user_annotation_breakdown(use_gpu_annotation=False, visualize=False, num_kernels=SOME)
    ),
    "launch_rows": lambda one, ranks: _by_rank(one.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)),
    "kernel_launches": lambda one, ranks: launches(
        one.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False, include_memory_events=False)
    ),
    "queue_length_time_series": lambda one, ranks: _by_rank(
        {rank: _last_at_once(rows, "stream", "queue_length") for rank, rows in one.get_queue_length_time_series(ranks).items()}
    ),
    "full_queue": lambda one, ranks: table(
        one.get_time_spent_blocked_on_full_queue(one.get_queue_length_time_series(ranks), 8)
    ),
    "memory_bw_time_series": lambda one, ranks: _by_rank(
        {rank: _last_at_once(rows, "name", "memory_bw_gbps") for rank, rows in one.get_memory_bw_time_series(ranks).items()}
    ),
    "annotated_kernels": lambda one, ranks: table(_chosen(one.get_gpu_kernels_with_user_annotations(ranks[0]))),
    "aten_ops": lambda one, ranks: _by_rank(one.get_aten_op_kernels_and_delay(ranks)),
    "potential_stragglers": lambda one, ranks: one.get_potential_stragglers(),
    "sequences": _sequences,
    "counters": _counters,
    "cupti": _cupti,
    "critical_path": _path,
}  # fmt: skip


def _last_at_once(frame: Any, group: str, value: str) -> Any:
    """Adds up changes at the same time: HTA has them in any order."""
    return frame[["ts", group, value]].drop_duplicates(["ts", group], keep="last")


def _chosen(frame: Any) -> Any:
    return None if frame is None else frame[ANNOTATED]


def answers(one: Any, ranks: list[int], methods: dict[str, Callable[[Any, list[int]], Any]]) -> dict[str, Any]:
    """Answers by method; what raises is absent, as in the stored answers, its error under "errors"."""
    found: dict[str, Any] = {"errors": {}}
    for name, call in methods.items():
        try:
            found[name] = call(one, ranks)
        except Exception as error:  # noqa: BLE001 -- HTA raises whatever it meets
            found["errors"][name] = f"{type(error).__name__}: {error}"
    return found


# ---- comparing ----


def _sort_key(row: list[Any], places: list[int]) -> list[tuple[bool, float, str]]:
    values = [row[place] for place in places]
    return [
        (isinstance(v, str), 0.0 if v is None or isinstance(v, str) else round(float(v), 1), str(v)) for v in values
    ]


def _close(mine: Any, theirs: Any, within: float) -> bool:
    if isinstance(mine, str) or isinstance(theirs, str):
        return str(mine) == str(theirs)
    absent = [value is None or math.isnan(value) for value in (mine, theirs)]
    if any(absent):
        return all(absent)
    return bool(abs(mine - theirs) <= within + 1e-9 * abs(theirs))


def compare_tables(check: Comparison, quantity: str, mine: Any, theirs: Any, within: Callable[[str], float]) -> None:
    """Rows may stand in another order, which says nothing in HTA either: that of files."""
    if mine is None or theirs is None:
        check.equal(quantity, mine, theirs)
        return
    if not mine["rows"] and not theirs["rows"]:
        return
    check.equal(f"{quantity}: columns", mine["columns"], theirs["columns"])
    check.equal(f"{quantity}: rows", len(mine["rows"]), len(theirs["rows"]))
    if mine["columns"] != theirs["columns"] or len(mine["rows"]) != len(theirs["rows"]):
        return
    if "kinds" in theirs and mine["rows"]:
        check.equal(f"{quantity}: types", mine["kinds"], theirs["kinds"])
    keys = [at for at, name in enumerate(mine["columns"]) if name in KEYS]
    places = [*keys, *(at for at in range(len(mine["columns"])) if at not in keys)]
    ours, others = (sorted(one["rows"], key=lambda row: _sort_key(row, places)) for one in (mine, theirs))
    for at, name in enumerate(mine["columns"]):
        pairs = [(row[at], other[at]) for row, other in zip(ours, others)]
        wrong = [pair for pair in pairs if not _close(*pair, within(name))]
        check.equal(f"{quantity}: {name}", wrong[:1], [])


def compare_frames(check: Comparison, quantity: str, mine: Any, theirs: Any, within: Callable[[str], float]) -> None:
    """Large frames with the same index, column by column."""
    import numpy as np

    check.equal(f"{quantity}: columns", sorted(mine.columns), sorted(theirs.columns))
    mine, theirs = mine.sort_index(), theirs.sort_index()
    check.equal(f"{quantity}: rows", [len(mine), mine.index.equals(theirs.index)], [len(theirs), True])
    if not mine.index.equals(theirs.index):
        return
    for name in sorted(set(mine.columns) & set(theirs.columns)):
        ours, others = mine[name], theirs[name]
        if ours.dtype.kind in "iuf" and others.dtype.kind in "iuf":
            distance = np.abs(ours.to_numpy(float) - others.to_numpy(float))
            bad = (distance > within(name) + 1e-9 * np.abs(others.to_numpy(float))) | (
                ours.isna() != others.isna()
            ).to_numpy()
        else:
            bad = np.array([str(one) != str(other) for one, other in zip(ours, others)], bool)
        wrong = np.flatnonzero(bad)[:1]
        check.equal(f"{quantity}: {name}", [(ours.iloc[at], others.iloc[at]) for at in wrong], [])


def compare_answers(
    check: Comparison, mine: Any, theirs: Any, quantity: str, within: Callable[[str, str], float]
) -> None:
    """Walks both: tables, dictionaries of them, lists and numbers."""
    if hasattr(theirs, "iloc") and hasattr(mine, "iloc"):
        compare_frames(check, quantity, mine, theirs, lambda column: within(quantity, column))
    elif isinstance(theirs, dict) and "rows" in theirs or isinstance(mine, dict) and "rows" in mine:
        compare_tables(check, quantity, mine, theirs, lambda column: within(quantity, column))
    elif isinstance(theirs, dict) and isinstance(mine, dict):
        check.equal(f"{quantity}: keys", sorted(set(mine) & set(theirs)), sorted(mine))
        for key in sorted(set(mine) & set(theirs)):
            compare_answers(check, mine[key], theirs[key], f"{quantity}/{key}", within)
    elif isinstance(theirs, (int, float)) and isinstance(mine, (int, float)):
        check.equal(quantity, mine if not _close(mine, theirs, within(quantity, "")) else theirs, theirs)
    else:
        check.equal(quantity, mine, theirs)
