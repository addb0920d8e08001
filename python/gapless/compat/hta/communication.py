# SPDX-License-Identifier: Apache-2.0
"""Communication: how much of it computation hides, and which ranks come late to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
import pandas as pd

from . import as_hta, plots
from .intervals import length, union, union_of
from .symbols import COMMUNICATION, COMPUTATION, STEP, TraceSymbolTable, as_hta_does
from .trace import Trace

SHORTEST = 0.01  # of an iteration: shorter communication holds nobody up


def comm_comp_overlap(trace: Trace, visualize: bool) -> Any:
    found = []
    for rank in trace.ranks:
        work = trace.work(rank)
        communication, computation = (union_of(work.where(work.kind == kind)) for kind in (COMMUNICATION, COMPUTATION))
        either = union(*(np.concatenate(sides) for sides in zip(communication, computation)))
        both = length(communication) + length(computation) - length(either)
        if trace.as_hta:
            both = as_hta.overlap(communication, computation)
        found.append((rank, float(both) / float(length(communication)) if len(communication[0]) else np.nan))
    frame = pd.DataFrame(found, columns=["rank", "comp_comm_overlap_ratio"])
    frame["comp_comm_overlap_pctg"] = (100 * frame["comp_comm_overlap_ratio"]).round(2)
    if visualize:
        plots.bars(frame, "rank", "comp_comm_overlap_pctg", "Computation-communication overlap")
    return frame[["rank", "comp_comm_overlap_pctg"]]


def profiler_steps(trace: Trace) -> list[int]:
    names = {at: int(found[1]) for at, name in enumerate(trace.symbol_table.sym_table) if (found := STEP.match(name))}
    seen: set[int] = set()
    for rows in trace.frames.values():
        seen.update(names[name] for name in rows["name"].unique() if name in names)
    return sorted(seen)


def potential_stragglers(
    trace: Trace, steps: Sequence[int] | None, candidates: int, visualize: bool, identify: Callable[..., Any]
) -> list[int]:
    available = profiler_steps(trace)
    chosen = available if steps is None else [step for step in steps if step in available]
    if not chosen:
        raise ValueError(f"none of the steps {steps} was recorded; there are: {available}")
    frame = pd.concat(trace.frames, names=["rank", "idx"]).reset_index()
    frame = frame[frame["iteration"].isin(chosen)]
    candidates = max(candidates, 1)
    counts = identify(frame, trace.symbol_table, candidates, visualize)
    return [int(rank) for rank in counts.sort_values(ascending=False)[:candidates].index]


def find_stragglers_with_late_start_comm_kernels(
    df: Any, symbol_table: TraceSymbolTable, n_stragglers: int = 2, visualize: bool = False
) -> Any:
    """Counts how often each rank was among the last to begin the communication whose duration differs most between ranks."""
    kernels = _last_long_kernels(df, symbol_table)
    spread = kernels.groupby(["stream", "iteration", "name"])["duration"].std().groupby(["stream", "name"]).mean()
    stream, name = spread.idxmax() if spread.notna().any() else spread.index[0]
    chosen = kernels[(kernels["stream"] == stream) & (kernels["name"] == name)]
    starts = chosen.groupby("iteration")["normalized_start_time"]
    latest = starts.transform(lambda group: group.nlargest(max(n_stragglers, 1)).iloc[-1])
    late = (chosen["normalized_start_time"] >= latest).astype(int)
    if visualize:
        plots.bars(chosen, "rank", "normalized_start_time", "Potential stragglers")
    return late.groupby(chosen["rank"]).sum()


def _last_long_kernels(df: Any, symbols: TraceSymbolTable) -> Any:
    """The last communication kernel of each rank, stream, iteration and name that lasts; times in iterations."""
    prefix, least = ("ncclKernel", 1) if as_hta_does() else ("nccl", 0)  # of streams and iterations
    first = df["ts"].min()
    mean = ((df["ts"] + df["dur"]).max() - first) / df["iteration"].nunique()
    ids = symbols.ids_where(lambda name: name.startswith(prefix))
    kept = (df["stream"] >= least) & (df["iteration"] >= least) & (df["dur"] >= mean * SHORTEST) & df["name"].isin(ids)
    keys = ["rank", "stream", "iteration", "name"]
    found = df[kept].sort_values("ts", kind="stable").groupby(keys, as_index=False).last()
    if not len(found):
        raise ValueError("no communication kernel was recorded that takes 1 % of a step: stragglers are not known")
    return found.assign(normalized_start_time=(found["ts"] - first) / mean, duration=found["dur"] / mean)
