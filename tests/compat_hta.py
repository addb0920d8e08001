# SPDX-License-Identifier: Apache-2.0
"""Answers of TraceAnalysis about a recording, in the layout of the stored answers; made of ours or of HTA's own by the same calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from oracle import Comparison

KEYS = (
    "rank", "rank/", "stream", "stream/", "kernel_type", "name", "name/", "idle_category", "ts", "correlation",
    "queue_length", "memory_bw_gbps", "aten_op_name", "kernel_sequence", "pattern",
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
    return {"kernel_type": table(types[types["sum"] > 0]), "all_kernel": table(names)}


def _idle(found: tuple[Any, Any]) -> dict[str, Any]:
    return {"idle": table(found[0]), "intervals": table(found[1])}


def _by_rank(frames: dict[int, Any]) -> dict[str, Any]:
    return {str(rank): table(frame.drop(columns="rank", errors="ignore")) for rank, frame in frames.items()}


ANNOTATED = ["ts", "dur", "stream", "correlation", "s_name", "s_cat", "s_user_annotation"]

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
    return [(isinstance(v, str), 0.0 if isinstance(v, str) else round(float(v), 1), str(v)) for v in values]


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
    if quantity.endswith("kernel_type") and "sum" in theirs["columns"]:  # HTA has combinations that ran for no time
        place = theirs["columns"].index("sum")
        theirs = {**theirs, "rows": [row for row in theirs["rows"] if row[place]]}
    if not mine["rows"] and not theirs["rows"]:
        return
    check.equal(f"{quantity}: columns", mine["columns"], theirs["columns"])
    check.equal(f"{quantity}: rows", len(mine["rows"]), len(theirs["rows"]))
    if mine["columns"] != theirs["columns"] or len(mine["rows"]) != len(theirs["rows"]):
        return
    if "kinds" in theirs and mine["rows"]:
        check.equal(f"{quantity}: types", mine["kinds"], theirs["kinds"])
    places = [at for at, name in enumerate(mine["columns"]) if name in KEYS]
    ours, others = (sorted(one["rows"], key=lambda row: _sort_key(row, places)) for one in (mine, theirs))
    for at, name in enumerate(mine["columns"]):
        pairs = [(row[at], other[at]) for row, other in zip(ours, others)]
        wrong = [pair for pair in pairs if not _close(*pair, within(name))]
        check.equal(f"{quantity}: {name}", wrong[:1], [])


def compare_answers(
    check: Comparison, mine: Any, theirs: Any, quantity: str, within: Callable[[str, str], float]
) -> None:
    """Walks both: tables, dictionaries of them, lists and numbers."""
    if isinstance(theirs, dict) and "rows" in theirs or isinstance(mine, dict) and "rows" in mine:
        compare_tables(check, quantity, mine, theirs, lambda column: within(quantity, column))
    elif isinstance(theirs, dict) and isinstance(mine, dict):
        check.equal(f"{quantity}: keys", sorted(set(mine) & set(theirs)), sorted(mine))
        for key in sorted(set(mine) & set(theirs)):
            compare_answers(check, mine[key], theirs[key], f"{quantity}/{key}", within)
    elif isinstance(theirs, (int, float)) and isinstance(mine, (int, float)):
        check.equal(quantity, mine if not _close(mine, theirs, within(quantity, "")) else theirs, theirs)
    else:
        check.equal(quantity, mine, theirs)
