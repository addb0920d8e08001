# SPDX-License-Identifier: Apache-2.0
"""Launches: their cost on the host, their delay, and the operators and kernels they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import as_hta, plots
from .symbols import HTA_KERNEL_LAUNCHES, HTA_MEMORY_LAUNCHES, KERNEL_LAUNCH, MEMORY, MEMORY_LAUNCH, as_hta_does
from .trace import Trace, ranks_of


def launched(trace: Trace, rank: int, names: Any) -> tuple[Any, Any]:
    """Operations whose launch has one of these names, and their launches, row by row, by the time of the launch."""
    if trace.as_hta:
        return as_hta.joined(trace.rows(rank), names)
    rows, work = trace.rows(rank), trace.gpu_rows(rank)
    work = work[work["index_correlation"] > 0]
    launches = rows.reindex(work["index_correlation"])
    chosen = launches["name"].isin(names).to_numpy()
    work, launches = work[chosen], launches[chosen]
    order = np.argsort(launches["ts"].to_numpy(), kind="stable")
    launches = launches.iloc[order].astype(
        {name: rows[name].dtype for name in rows.columns if rows[name].dtype.kind in "iu"}
    )
    return work.iloc[order], launches


def launch_stats(
    trace: Trace, ranks: Sequence[int] | None, runtime_cutoff: float, delay_cutoff: float, with_memory: bool, visualize: bool
) -> dict[int, Any]:  # fmt: skip
    names = trace.symbol_table.ids_where(lambda name: _is_launch(name, with_memory))
    found = {}
    for rank in ranks_of(ranks):
        frame = _stats_as_hta(trace, rank, names) if trace.as_hta else _stats(trace, rank, names, with_memory)
        if visualize:
            _draw(frame, rank, runtime_cutoff, delay_cutoff)
        found[rank] = frame
    return found


def _stats(trace: Trace, rank: int, names: Any, with_memory: bool) -> Any:
    work = trace.work(rank)
    chosen = np.isin(work.call_name, names)
    if not with_memory:
        chosen &= work.kind != MEMORY
    work = work.where(chosen)
    work = work.where(np.argsort(work.called, kind="stable"))
    delay = np.maximum(work.start - work.called - work.calling, 0)
    return _stats_frame(work.correlation, work.calling, work.lasting, delay)


def _stats_as_hta(trace: Trace, rank: int, names: Any) -> Any:
    work, calls = as_hta.joined(trace.rows(rank), names)
    called, calling = calls["ts"].to_numpy(), calls["dur"].to_numpy()
    delay = np.maximum(work["ts"].to_numpy() - called - calling, 0)
    return _stats_frame(work["correlation"].to_numpy(), calling, work["dur"].to_numpy(), delay)


def _stats_frame(correlation: Any, calling: Any, lasting: Any, delay: Any) -> Any:
    columns = {"correlation": correlation, "cpu_duration": calling, "gpu_duration": lasting, "launch_delay": delay}
    return pd.DataFrame(columns, copy=False)


def _is_launch(name: str, with_memory: bool) -> bool:
    if as_hta_does():
        return name in HTA_KERNEL_LAUNCHES or (with_memory and name in HTA_MEMORY_LAUNCHES)
    return bool(KERNEL_LAUNCH.match(name) or (with_memory and MEMORY_LAUNCH.match(name)))


def _draw(frame: Any, rank: int, runtime_cutoff: float, delay_cutoff: float) -> None:
    short = frame[(frame["cpu_duration"] <= runtime_cutoff) & (frame["gpu_duration"] < frame["cpu_duration"])]
    plots.histogram(short, "cpu_duration", f"Kernels shorter than their launch on rank {rank}")
    long = frame[frame["cpu_duration"] > runtime_cutoff]
    plots.histogram(long, "cpu_duration", f"Launches over {runtime_cutoff} us on rank {rank}")
    late = frame[frame["launch_delay"] > delay_cutoff]
    plots.histogram(late, "launch_delay", f"Launch delays over {delay_cutoff} us on rank {rank}")


def aten_op_kernels(trace: Trace, ranks: Sequence[int] | None, sort_by: Sequence[str] | None) -> dict[int, Any]:
    found: dict[int, Any] = {}
    before: list[Any] = []
    for rank in ranks_of(ranks):
        before = [*before, _launches_as_hta(trace, rank)] if trace.as_hta else [_launches_below(trace, rank)]
        found[rank] = _sequences(pd.concat(before), list(sort_by or ["occurrence_count"]))
        if trace.as_hta:
            plots.bars(found[rank], "aten_op_name", "occurrence_count", f"Operators of rank {rank} with their kernels")
    return found


def _launches_below(trace: Trace, rank: int) -> Any:
    """The launches below aten:: operators, each with the innermost operator around it on its thread."""
    symbols = trace.symbol_table
    work, calls = launched(trace, rank, symbols.ids_where(KERNEL_LAUNCH.match))
    operator = _aten_above(trace, rank, calls["index"].to_numpy() - 1)
    known = operator >= 0
    rows = trace.rows(rank)
    starts = rows["ts"].reindex(operator[known] + 1).to_numpy()
    return pd.DataFrame(
        {
            "rank": rank, "thread": 0, "operator": operator[known],
            "aten_op_name": symbols.texts(trace.events[rank].name[operator[known]]),
            "kernel": symbols.texts(work["name"])[known],
            "launch_delay": calls["ts"].to_numpy()[known] - starts,
            "runtime_delay": work["ts"].to_numpy()[known] - calls["ts"].to_numpy()[known],
        }
    )  # fmt: skip


def _launches_as_hta(trace: Trace, rank: int) -> Any:
    """The same as HTA has it: the operator of any thread that began last; operators of one thread, name and start are one."""
    rows, symbols = trace.rows(rank), trace.symbol_table
    calls = rows[rows["name"].isin(as_hta.launch_names(symbols))]
    work = rows[rows["stream"] != -1].drop_duplicates("index_correlation").set_index("index_correlation")
    calls = calls[calls["index"].isin(work.index)]
    work = work.loc[calls["index"]]
    operator = as_hta.operators_above(rows, calls, symbols)
    known = operator >= 0
    above = rows.loc[operator[known]]
    begun = calls["ts"].to_numpy()[known]
    return pd.DataFrame(
        {
            "rank": 0, "thread": above["tid"].to_numpy(), "operator": above["ts"].to_numpy(),
            "aten_op_name": symbols.texts(above["name"]), "kernel": symbols.texts(work["name"])[known],
            "launch_delay": begun - above["ts"].to_numpy(), "runtime_delay": work["ts"].to_numpy()[known] - begun,
        }
    )  # fmt: skip


def _sequences(launches: Any, sort_by: list[str]) -> Any:
    by_operator = launches.groupby(["rank", "thread", "aten_op_name", "operator"]).agg(
        kernel_sequence=("kernel", " -> ".join),
        launch_delay=("launch_delay", "first"), runtime_delay=("runtime_delay", "first"),
    )  # fmt: skip
    frame = by_operator.groupby(["aten_op_name", "kernel_sequence"]).agg(
        occurrence_count=("runtime_delay", "count"), avg_aten_op_launch_delay=("launch_delay", "mean"),
        avg_runtime_delay=("runtime_delay", "mean"),
    )  # fmt: skip
    frame = frame.reset_index().astype({"aten_op_name": "str", "kernel_sequence": "str"})
    return frame.sort_values(sort_by, ascending=False).round(3)


def _aten_above(trace: Trace, rank: int, calls: Any) -> Any:
    """The row of the innermost aten:: operator around each call on its thread; -1: none."""
    events = trace.events[rank]
    names = trace.symbol_table.ids_where(lambda name: name.startswith("aten::"))
    is_aten = np.isin(events.name, names)
    found = events.parents[calls]
    for _ in range(int(events.depths.max(initial=0)) + 1):
        going = (found >= 0) & ~is_aten[found]
        if not going.any():
            break
        found[going] = events.parents[found[going]]
    return found
