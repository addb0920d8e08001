# SPDX-License-Identifier: Apache-2.0
"""Answers as HTA gives them where it is wrong, on the rows of the file: GAPLESS_HTA_BUGS=1 asks for it.

Sums at the same time are added up in the order in which HTA's unstable sort leaves them, which is the same where the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .recorded import in_order, on_device
from .symbols import STEP, TraceSymbolTable

LAUNCHES = ("cuLaunchKernel",)  # beside cuda…LaunchKernel and runFunction…


def without_last_step(rows: Any, steps: Any, with_last: bool, symbols: TraceSymbolTable) -> Any:
    """The operations that host rows before the last step launched, once for each such row, then these rows.

    With the last step every host row stays: the end of the step is not in the time of the starts.
    """
    device = on_device(rows, symbols)
    host, work = rows[~device], rows[device]
    if not len(host):
        return rows
    marks = host[host["name"].isin(steps)]
    if not with_last:
        host = host[host["ts"] < (marks["ts"].max() if len(marks) else host["ts"].min())]
    else:
        host = host[host["ts"] <= (marks if len(marks) else host)["end"].max()]
    kept = work.merge(host[["correlation"]], on="correlation", how="inner")
    return pd.concat([kept, host], ignore_index=True).set_index("index", drop=False).rename_axis(None)


def joined(rows: Any, names: Any) -> tuple[Any, Any]:
    """Rows of the host and of the device with one correlation, which is that of a call with one of these names, row by row."""
    wanted = rows["correlation"][rows["name"].isin(names)]
    sides = [rows[side & rows["correlation"].isin(wanted)] for side in (rows["stream"] == -1, rows["stream"] != -1)]
    numbered = [side[["correlation"]].assign(at=np.arange(len(side))) for side in sides]
    pairs = numbered[0].merge(numbered[1], on="correlation", how="inner")
    return sides[1].iloc[pairs["at_y"].to_numpy()], sides[0].iloc[pairs["at_x"].to_numpy()]


def together(sets: Sequence[tuple[Any, Any]]) -> dict[int, Any]:
    """For each combination of sets, as the sum of 1 << place, how long it runs: whole microseconds of each piece, also none."""
    status, time = np.zeros(0, np.int64), np.zeros(0)
    for place, (start, end) in enumerate(sets):
        time = np.concatenate([time, start, end])
        status = np.concatenate([status, np.full(len(start), 1 << place), np.full(len(end), -(1 << place))])
        order = np.argsort(time)
        status, time = status[order], time[order]
    running = np.cumsum(status)[:-1]
    lasting = np.diff(time).astype(np.int64)
    return {int(which): lasting[running == which].sum() for which in np.unique(running) if which > 0}


def overlap(first: tuple[Any, Any], second: tuple[Any, Any]) -> float:
    """The time that both run, where rounding has left intervals that end before they begin."""
    time = np.concatenate([*first, *second])
    status = np.concatenate([np.full(len(side), sign) for sign, side in zip((1, -1, 2, -2), (*first, *second))])
    order = np.argsort(time)
    both = np.cumsum(status[order])[:-1] == 3
    return float(np.diff(time[order])[both].sum())


def queue_lengths(rows: Any, names: Any) -> Any:
    """One more at each launch, one less at each start, by the time of the change."""
    calls = rows[rows["name"].isin(names) & (rows["index_correlation"] > 0)]
    work = rows[rows["stream"] != -1]
    place = work[["stream", "pid", "tid", "correlation"]].set_index("correlation")
    waiting = calls[["index", "ts", "correlation"]].join(place, on="correlation").assign(change=1)
    begun = work[work["correlation"].isin(calls["correlation"])].assign(change=-1)
    both = pd.concat([waiting, begun[waiting.columns]]).sort_values("ts").set_index("index")
    both = both.sort_values("stream", kind="stable")
    both["queue_length"] = both.groupby("stream")["change"].cumsum()
    return both[["ts", "pid", "tid", "stream", "queue_length"]]


def operators_above(rows: Any, calls: Any, symbols: TraceSymbolTable) -> Any:
    """The aten:: operator around each call that began last, on whatever thread; of several the first in the file; -1: none."""
    operators = rows[rows["name"].isin(symbols.ids_where(lambda name: name.startswith("aten::")))]
    order = np.argsort(operators["ts"].to_numpy(), kind="stable")
    index, start = operators["index"].to_numpy()[order], operators["ts"].to_numpy()[order]
    end = start + operators["dur"].to_numpy()[order]
    found = np.full(len(calls), -1, np.int64)
    begins, ends = calls["ts"].to_numpy(), (calls["ts"] + calls["dur"]).to_numpy()
    for row, last in enumerate(np.searchsorted(start, begins, "right")):
        at = last - 1
        while at >= 0 and end[at] < ends[row]:
            at -= 1
        if at < 0:
            continue
        first = at
        while first > 0 and start[first - 1] == start[at]:
            first -= 1
        around = np.arange(first, at + 1)
        found[row] = index[around[end[around] >= ends[row]][0]]
    return found


def launch_names(symbols: TraceSymbolTable) -> Any:
    """The calls that get_aten_op_kernels_and_delay takes for launches."""
    return symbols.ids_where(
        lambda name: (name.startswith("cuda") and "LaunchKernel" in name) or name.startswith((*LAUNCHES, "runFunction"))
    )


class Stacks:
    """The row around each row of the host on its thread, and how deep it lies; the backward thread lies in the step, or its backward."""

    def __init__(self, rows: Any, symbols: TraceSymbolTable) -> None:
        self.rows, self.symbols = rows, symbols
        self.parent: dict[int, int] = {}
        self.depth: dict[int, int] = {}
        threads = [part for _, part in rows.groupby(["pid", "tid"]) if not (part["stream"] > 0).all()]
        for part in threads:
            open_rows: list[int] = []
            for event, is_start in in_order(part[part["stream"] == -1]):
                if is_start:
                    self.parent[event] = open_rows[-1] if open_rows else -1
                    self.depth[event] = len(open_rows)
                    open_rows.append(event)
                elif open_rows:
                    open_rows.pop()
        self._link(threads)

    def _link(self, threads: list[Any]) -> None:
        steps = self.symbols.ids_where(STEP.match)
        backward = self.symbols.ids_where(lambda name: "autograd::" in name)
        mains = [part for part in threads if part["name"].isin(steps).any()]
        others = [part for part in threads if part["name"].isin(backward).any() and not part["name"].isin(steps).any()]
        if len(mains) != 1 or len(others) != 1:
            return
        main, other = mains[0], others[0]
        for prefix in ("## backward ##", "ProfilerStep#"):
            marks = main[main["name"].isin(self.symbols.ids_where(lambda name: name.startswith(prefix)))]  # noqa: B023
            if len(marks):
                break
        for mark in marks.itertuples():
            inside = other[(other["ts"] >= mark.ts) & (other["ts"] + other["dur"] <= mark.ts + mark.dur)]
            deeper = self.depth[int(mark.Index)] + 1
            for event in inside["index"]:
                if self.parent[int(event)] == -1:
                    self.parent[int(event)] = int(mark.Index)
            for event in inside["index"]:
                self.depth[int(event)] += deeper
