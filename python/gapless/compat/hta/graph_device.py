# SPDX-License-Identifier: Apache-2.0
"""The device's part of the critical path's graph: operations behind their launches and predecessors, and waits between streams and host."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd

from . import as_hta
from .graph import CPEdgeType, CPGraph, CPNode
from .recorded import DEVICE_SYNCS
from .symbols import HTA_QUEUED_LAUNCHES

LONGEST_GAP_US = 1500  # between operations of a stream that wait for each other alone
ADD_LAUNCHES = "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"


def launch_calls(graph: CPGraph) -> Any:
    """The calls that put an operation into a stream, by time, with the stream and the device (`gpu`) of the operation."""
    rows = graph.full_trace_df
    names = graph.symbol_table.ids_where(lambda name: name in HTA_QUEUED_LAUNCHES)
    calls = rows[rows["name"].isin(names) & (rows["index_correlation"] > 0)]
    work = rows[(rows["stream"] != -1) & (rows["index_correlation"] > 0)]
    work = work[["stream", "pid"]].rename(columns={"pid": "gpu"})
    calls = calls[["index", "pid", "tid", "ts", "correlation", "index_correlation"]].sort_values("ts", kind="stable")
    return calls.join(work, on="index_correlation", how="inner")


def queue_lengths(graph: CPGraph) -> dict[int, int]:
    """The number of operations of its stream that wait or run after each launch, and wait after each start, by place."""
    if graph.as_hta:
        names = graph.symbol_table.ids_where(lambda name: name in HTA_QUEUED_LAUNCHES)
        return dict(as_hta.queue_lengths(graph.full_trace_df, names)["queue_length"].items())
    calls = launch_calls(graph)
    work = graph.full_trace_df.loc[calls["index_correlation"].to_numpy()]
    place = np.concatenate([calls["index"].to_numpy(), work["index"].to_numpy()])
    at = np.concatenate([calls["ts"].to_numpy(), work["ts"].to_numpy()])
    stream, change = np.tile(calls["stream"].to_numpy(), 2), np.repeat([1, -1], len(calls))
    order = np.lexsort((-change, at, stream))
    lengths = pd.Series(change[order]).groupby(stream[order]).cumsum().tolist()
    return dict(zip(place[order].tolist(), lengths))


class Waits:
    """The operations that the recorder's rows of waits are about."""

    def __init__(self, graph: CPGraph) -> None:
        self.graph, self.rows = graph, graph.full_trace_df
        self.calls = launch_calls(graph)
        self.records = self._records()
        self._before = dict(zip(self.records["correlation"], self.records["index_previous_launch"]))
        self._after = self._next_launches()

    def partner(self, place: int) -> int:
        return int(self.rows["index_correlation"].at[place])

    def source(self, wait: Any) -> int | None:
        """The operation that was launched last into its stream when the event was recorded that is waited for."""
        before = self._before.get(wait.wait_on_cuda_event_record_corr_id, -1)
        return self.partner(int(before)) if before >= 0 else None

    def target(self, wait: Any) -> int | None:
        """The operation that the thread launches next into the stream that waits."""
        after = self._after.get(wait.index_correlation)
        return None if after is None else self.partner(after)

    def _called(self, name: str) -> Any:
        number = self.graph.symbol_table.sym_index.get(name, -1)
        return self.rows[self.rows["name"] == number].sort_values("ts", kind="stable")

    def _records(self) -> Any:
        """The calls of cudaEventRecord on which something waits, with the launch before."""
        waits = self.rows[self.rows["wait_on_stream"] > -1]
        waits = waits.drop_duplicates("wait_on_cuda_event_record_corr_id", keep="last")
        of = waits.set_index("wait_on_cuda_event_record_corr_id")[["wait_on_stream", "pid"]].set_axis(
            ["stream", "gpu"], axis=1
        )
        records = self._called("cudaEventRecord")[["index", "pid", "tid", "ts", "correlation"]].join(
            of, on="correlation", how="inner"
        )
        by_stream = {key: part for key, part in self.calls.groupby(["gpu", "stream"], sort=False)}
        launches, correlations = [], []
        for record in records.itertuples():
            part = by_stream.get((record.gpu, record.stream))
            at = -1 if part is None else int(np.searchsorted(part["ts"].to_numpy(), record.ts, "right")) - 1
            launches.append(-1 if part is None or at < 0 else int(part["index"].iat[at]))
            correlations.append(np.nan if part is None or at < 0 else part["correlation"].iat[at])
        return records.assign(index_previous_launch=launches, correlation_launch_event=correlations)

    def _next_launches(self) -> dict[int, int]:
        calls = self._called("cudaStreamWaitEvent")
        calls = calls[calls["index_correlation"] > 0]
        by_thread = {key: part for key, part in self.calls.groupby(["pid", "tid", "stream"], sort=False)}
        found = {}
        for call in calls.itertuples():
            stream = self.rows["stream"].at[call.index_correlation]
            part = by_thread.get((call.pid, call.tid, stream))
            at = len(self.calls) if part is None else int(np.searchsorted(part["ts"].to_numpy(), call.ts, "right"))
            if part is not None and at < len(part):
                found[int(call.Index)] = int(part["index"].iat[at])
        return found


class Device:
    """Goes through operations by their start, and waits by their end."""

    def __init__(self, graph: CPGraph) -> None:
        self.graph, self.waits, self.queue = graph, Waits(graph), queue_lengths(graph)
        index = graph.symbol_table.sym_index
        self.names = {
            index[name]: name for name in (*DEVICE_SYNCS, "Stream Sync", "Stream Wait Event") if name in index
        }
        self.sync = index.get("cuda_sync", -1)
        self.last: dict[int, CPNode] = {}  # the end of the last operation of each stream
        self.waited: dict[int, int] = {}  # by operation: the one of another stream that it waits for
        self.started = graph.full_trace_df["ts"]

    def walk(self) -> None:
        rows = self.graph.trace_df
        on_host = [number for number, name in self.names.items() if name in DEVICE_SYNCS]
        chosen = (rows["stream"] != -1) | rows["name"].isin(on_host)
        rows = rows[chosen & (rows["index_correlation"] >= 0)]
        at = np.where(rows["cat"] == self.sync, rows["ts"] + rows["dur"], rows["ts"])
        for row in rows.iloc[np.argsort(at, kind="stable")].itertuples():
            if row.cat == self.sync:
                self._wait(row, self.names.get(row.name, ""))
            else:
                self._run(row)

    def _wait(self, row: Any, name: str) -> None:
        if name in ("Context Sync", "Stream Sync"):
            ends = list(self.last.values()) if name == "Context Sync" else [self.last.get(row.stream)]
            for end in ends:
                if end is not None:
                    add_wait_of_host(self.graph, end, row.index_correlation)
            return
        source = self.waits.source(row)
        if source is None:
            return
        if name == "Stream Wait Event":
            target = self.waits.target(row)
            if target is not None:
                self.waited[target] = source
        elif name == "Event Sync":
            end = self.graph.get_nodes_for_event(source)[1]
            if end is not None:
                add_wait_of_host(self.graph, end, row.index_correlation)

    def _run(self, row: Any) -> None:
        event, stream, launch = int(row.Index), row.stream, int(row.index_correlation)
        start, end = self.graph.get_nodes_for_event(event)
        if start is None or end is None:
            return
        self.graph.attribute(self.graph.connect(start, end, CPEdgeType.OPERATOR_KERNEL), -1)
        before = self.last.get(stream)
        source = self.waited.pop(event, None)
        other = None if source is None else self.graph.get_nodes_for_event(source)[1]
        if other is not None:
            self.graph.connect(other, start, CPEdgeType.SYNC_DEPENDENCY)
        launched = self._waits_for_launch(event, launch, [node for node in (before, other) if node is not None])
        if launched:
            add_launch(self.graph, launch, start)
        elif before is not None and start.ts - before.ts < LONGEST_GAP_US and (other is None or other.ts < before.ts):
            self.graph.attribute(self.graph.connect(before, start, CPEdgeType.KERNEL_KERNEL_DELAY), -1)
        if not launched and os.environ.get(ADD_LAUNCHES) == "1":
            add_launch(self.graph, launch, start, zero_weight=True)
        self.last[stream] = end

    def _waits_for_launch(self, event: int, launch: int, before: list[CPNode]) -> bool:
        """Was the stream empty when it was launched, and everything over that it waits for?"""
        if self.queue.get(launch) != 1 or self.queue.get(event) != 0:
            return False
        return all(node.ts < self.started.at[launch] for node in before)


def add_wait_of_host(graph: CPGraph, end: CPNode, call: int) -> None:
    """The call returns when the operation has ended."""
    returned = graph.get_nodes_for_event(call)[1]
    if returned is not None:
        graph.connect(end, returned, CPEdgeType.SYNC_DEPENDENCY)


def add_launch(graph: CPGraph, launch: int, start: CPNode, zero_weight: bool = False) -> bool:
    """The operation starts after the call that launched it began; False where that is not in the graph."""
    called = graph.get_nodes_for_event(launch)[0]
    if called is None:
        return False
    graph.connect(called, start, CPEdgeType.KERNEL_LAUNCH_DELAY, zero_weight=zero_weight)
    return True
