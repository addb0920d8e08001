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


def _gaps(trace: Trace, rank: int, streams: Sequence[int] | None, delay: float) -> Any:
    """A row for each operation of the streams: the gap before it, NaN at the first, and its cause."""
    rows = trace.gpu_rows(rank)
    if trace.as_hta:
        rows = rows[rows["cat"].isin(trace.symbol_table.find_ids(WORK))]
    launch = trace.rows(rank)["ts"].reindex(rows["index_correlation"]).to_numpy(dtype=float)
    rows = rows[["stream", "ts", "dur"]].assign(launch=launch)
    wanted = list(rows["stream"].unique()) if streams is None or not len(streams) else list(streams)
    rows = rows[rows["stream"].isin(wanted)].sort_values("ts", kind="stable")
    rows["before"] = (rows["ts"] + rows["dur"]).groupby(rows["stream"]).shift(1)
    rows["idle_interval"] = rows["ts"] - rows["before"]
    waited = rows["launch"] > rows["before"]
    cause = np.select([waited, rows["idle_interval"] < delay], [0, 1], 2)
    rows["idle_category"] = pd.Series(np.array(CAUSES, object)[cause], index=rows.index, dtype="str")
    order = {stream: at for at, stream in enumerate(wanted)}
    rows["order"] = rows["stream"].map(order)
    return rows


def _sums(gaps: Any, rank: int) -> Any:
    found = gaps.groupby(["order", "stream", "idle_category"])["idle_interval"].sum().reset_index()
    found["rank"] = rank
    found["idle_time"] = found["idle_interval"]
    found["idle_time_ratio"] = found["idle_time"] / found.groupby("stream")["idle_time"].transform("sum")
    return found[["rank", "stream", "idle_category", "idle_time", "idle_time_ratio"]].round(2)


def _statistics(gaps: Any, rank: int) -> Any:
    found = gaps.groupby(["order", "stream", "idle_category"])["idle_interval"].describe().reset_index()
    found = found.drop(columns="order").set_index("idle_category").round(2)
    found.insert(0, "rank", rank)
    return found
