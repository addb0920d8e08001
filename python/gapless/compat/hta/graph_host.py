# SPDX-License-Identifier: Apache-2.0
"""The host's part of the critical path's graph: the events of each thread in order, and calls that wait for the runtime's lock."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import BLOCKING, NS, CPEdgeType, CPGraph, CPNode
from .recorded import in_order

# One of these runs at a time in a process.
LOCKING = frozenset({"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"})
HOST_CATEGORIES = ("cpu_op", "cuda_runtime", "cuda_driver")


def add_nodes(graph: CPGraph) -> None:
    """A start and an end for each operator, call and operation, and for each event that loads data, by time and place in the file."""
    rows, symbols = graph.trace_df, graph.symbol_table
    chosen = rows["cat"].isin([symbols.sym_index[name] for name in HOST_CATEGORIES if name in symbols.sym_index])
    if graph.data_load_events is not None:
        chosen |= rows["name"].isin(symbols.find_matches(list(graph.data_load_events)))
    chosen |= (rows["stream"] != -1) & (rows["index_correlation"] >= 0)
    rows = rows[chosen]
    blocking = rows["name"].isin([symbols.sym_index[name] for name in BLOCKING if name in symbols.sym_index])
    places = np.tile(rows["index"].to_numpy(), 2)
    times = np.concatenate([rows["ts"].to_numpy(), (rows["ts"] + rows["dur"]).to_numpy()])
    times = times if graph.as_hta else times.round(NS)
    order = np.lexsort((places, times))
    starts, blocks = order < len(rows), np.tile(blocking.to_numpy(), 2)[order]
    columns = [column.tolist() for column in (places[order], times[order], starts, blocks)]
    graph.node_list = [CPNode(at, *values) for at, values in enumerate(zip(*columns))]
    graph.event_to_start_node_map = {node.ev_idx: node.idx for node in graph.node_list if node.is_start}
    graph.event_to_end_node_map = {node.ev_idx: node.idx for node in graph.node_list if not node.is_start}


class Lock:
    """The calls that need the runtime's lock."""

    def __init__(self, graph: CPGraph) -> None:
        index = graph.symbol_table.sym_index
        names = graph.trace_df["name"]
        self._calls = set(names.index[names.isin([index[name] for name in LOCKING if name in index])])

    def needed_by(self, node: CPNode) -> bool:
        return node.ev_idx in self._calls

    def between(self, first: CPNode, second: CPNode) -> bool:
        """Is the order of two nodes that of the lock? The end of a call and the start of a later one are not ordered by it."""
        both = self.needed_by(first) and self.needed_by(second)
        return both and (first.is_start or not second.is_start)


def add_lock_order(graph: CPGraph, lock: Lock) -> None:
    """The call that ends first had the lock first: whatever began before it ends waits for that end, and ends follow each other."""
    waiting: list[CPNode] = []
    before: CPNode | None = None
    for node in graph.node_list:
        if not lock.needed_by(node):
            continue
        if node.is_start:
            waiting.append(node)
        else:
            while waiting:
                _wait(graph, waiting.pop(), node)
            if before is not None and not before.is_start:
                graph.connect(before, node, CPEdgeType.DEPENDENCY)
        before = node


def _wait(graph: CPGraph, begun: CPNode, end: CPNode) -> None:
    own = begun.ev_idx == end.ev_idx
    edge = graph.connect(begun, end, CPEdgeType.OPERATOR_KERNEL if own else CPEdgeType.DEPENDENCY)
    graph.attribute(edge, end.ev_idx)


def add_threads(graph: CPGraph, lock: Lock) -> None:
    """The events of each thread, one after and within the other; those of the backward thread are taken for the forward thread's."""
    rows = graph.trace_df
    forward, backward = (_thread_of(graph, part) for part in ("forward", "autograd"))
    threads = rows["tid"]
    if forward and backward and forward != backward:
        threads = threads.mask(threads == backward, forward)
    for _, part in rows.groupby([rows["pid"], threads]):
        streams = part["stream"].to_numpy()
        if (streams < 0).all():
            Thread(graph, lock).walk(part)


def _thread_of(graph: CPGraph, part: str) -> Any:
    """The only thread with operators or annotations whose name has this part; None if there are none or several."""
    index, rows = graph.symbol_table.sym_index, graph.trace_df
    wanted = rows["cat"].isin([index.get("cpu_op", -1), index.get("user_annotation", -1)])
    named = rows["name"].isin(graph.symbol_table.ids_where(lambda name: part in name))
    found = rows["tid"][wanted & named].unique()
    return found[0] if len(found) == 1 else None


class Thread:
    """Goes through the events of a thread as they begin and end, and links each with the last before it."""

    def __init__(self, graph: CPGraph, lock: Lock) -> None:
        self.graph, self.lock = graph, lock
        self.last: CPNode | None = None
        self.around = -1  # the event around the last one
        self.open: list[int] = []
        self.inside = 0  # how many open events have nodes

    def walk(self, rows: Any) -> None:
        for event, is_start in in_order(rows):
            if is_start:
                self._pass(event, True, self.open[-1] if self.open else -1)
                self.open.append(event)
            elif self.open:
                self._leave()
        while self.open:
            self._leave()

    def _leave(self) -> None:
        event = self.open.pop()
        self._pass(event, False, self.open[-1] if self.open else -1)

    def _pass(self, event: int, is_start: bool, parent: int) -> None:
        start, end = self.graph.get_nodes_for_event(event)
        if start is None or end is None:
            return
        node = start if is_start else end
        if self.last is not None and not self.lock.between(self.last, node):
            kind = CPEdgeType.DEPENDENCY if is_start and not self.inside else CPEdgeType.OPERATOR_KERNEL
            waits = not is_start and start.is_blocking
            edge = self.graph.connect(self.last, node, kind, zero_weight=waits)
            self.graph.attribute(edge, self.around)
        self.last, self.around = node, parent
        self.inside += 1 if is_start else -1
