# SPDX-License-Identifier: Apache-2.0
"""Idle time of streams by its cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import plots
from .symbols import as_hta_does
from .trace import Trace, ranks_of

CAUSES = ("host_wait", "kernel_wait", "other")
WORK = ("kernel", "Kernel", "gpu_memset", "Memset", "gpu_memcpy", "Memcpy", "mtia_ccp_events")


def idle_time_breakdown(
    trace: Trace, ranks: Sequence[int] | None, streams: Sequence[int] | None, visualize: bool, percent: bool, with_stats: bool, delay: float
) -> tuple[Any, Any]:  # fmt: skip
    parts, statistics = [], []
    for rank in ranks_of(ranks):
        gaps = _gaps(trace, rank, streams, delay)
        sums = _sums(gaps, rank)
        if visualize:
            labelled = sums.assign(stream=sums["stream"].astype(str))
            shown = "idle_time_ratio" if percent else "idle_time"
            plots.bars(labelled, "stream", shown, f"Idle time of rank {rank} by stream", color="idle_category")
            sums = labelled if as_hta_does() else sums
        parts.append(sums)
        if with_stats:
            statistics.append(_statistics(gaps, rank))
    return pd.concat(parts), pd.concat(statistics) if with_stats else None


def _gaps(trace: Trace, rank: int, streams: Sequence[int] | None, delay: float) -> dict[str, Any]:
    """For each operation of the streams: the gap before it, NaN at the first, and the number of its cause."""
    work = trace.work(rank)
    if work.category is not None:
        work = work.where(np.isin(work.category, trace.symbol_table.find_ids(WORK)))
    found, first = np.unique(work.stream, return_index=True)
    wanted = found[np.argsort(first)] if streams is None or not len(streams) else np.asarray(list(streams))
    place = np.full(len(work), -1, np.int64)
    for at, stream in enumerate(wanted):
        place[work.stream == stream] = at
    order = np.lexsort((work.start, place))
    order = order[place[order] >= 0]
    work, place = work.where(order), place[order]
    before = np.concatenate([[np.nan], work.end[:-1]])[: len(work)]
    before[np.flatnonzero(np.diff(place, prepend=-1))] = np.nan
    gap = work.start - before
    cause = np.select([work.called > before, gap < delay], [0, 1], 2)
    return {"place": place, "stream": work.stream, "cause": cause, "gap": gap}


def _sums(gaps: dict[str, Any], rank: int) -> Any:
    group = gaps["place"] * len(CAUSES) + gaps["cause"]
    used = np.unique(group)
    idle = np.bincount(group, np.nan_to_num(gaps["gap"]), int(group.max(initial=-1)) + 1)[used]
    place = used // len(CAUSES)
    whole = np.bincount(place, idle, int(place.max(initial=-1)) + 1)[place]
    stream_of = np.zeros(int(place.max(initial=-1)) + 1, gaps["stream"].dtype)
    stream_of[gaps["place"]] = gaps["stream"]
    with np.errstate(invalid="ignore"):
        ratio = idle / whole
    return pd.DataFrame(
        {
            "rank": rank, "stream": stream_of[place],
            "idle_category": pd.Series([CAUSES[at] for at in used % len(CAUSES)], dtype="str"),
            "idle_time": idle.round(2), "idle_time_ratio": ratio.round(2),
        }
    )  # fmt: skip


def _statistics(gaps: dict[str, Any], rank: int) -> Any:
    rows = pd.DataFrame({name: gaps[name] for name in ("place", "stream", "gap")})
    rows["idle_category"] = pd.Series(np.array(CAUSES, object)[gaps["cause"]], dtype="str")
    found = rows.groupby(["place", "stream", "idle_category"])["gap"].describe().reset_index()
    found = found.drop(columns="place").set_index("idle_category").round(2)
    found.insert(0, "rank", rank)
    return found
