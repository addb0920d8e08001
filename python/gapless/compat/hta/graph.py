# SPDX-License-Identifier: Apache-2.0
"""The graph of the critical path: starts and ends of events, what each must wait for, and the longest way through it."""

from __future__ import annotations

import enum
import importlib.util
import json
import logging
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from ...program import ProgramError


class NetworkxMissing(ProgramError, ImportError):
    """The package that holds the graph and finds the longest way is not installed."""


if importlib.util.find_spec("networkx") is None:
    raise NetworkxMissing('critical_path_analysis of gapless.compat.hta needs networkx: pip install "gapless[hta]"')

import networkx

from .symbols import COMMUNICATION, kind_by_name
from .trace import Trace, decode

logger = logging.getLogger("hta")
NS = 3  # decimals of microseconds
STRICT = "CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS"
BLOCKING = (
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery", "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync",
)  # fmt: skip


class CPEdgeType(enum.Enum):
    OPERATOR_KERNEL = "critical_path_operator"
    DEPENDENCY = "critical_path_dependency"
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    SYNC_DEPENDENCY = "critical_path_sync_dependency"


TIMELESS = (CPEdgeType.DEPENDENCY, CPEdgeType.SYNC_DEPENDENCY)
ATTRIBUTED = (CPEdgeType.OPERATOR_KERNEL, CPEdgeType.KERNEL_KERNEL_DELAY)


class BoundType(enum.Enum):
    GPU_KERNEL_KERNEL_OVERHEAD = "gpu_kernel_kernel_overhead"
    GPU_KERNEL_LAUNCH_OVERHEAD = "gpu_kernel_launch_overhead"
    DATA_LOADING = "data_loading"
    CPU_BOUND = "cpu_bound"
    GPU_COMPUTE_BOUND = "gpu_compute_bound"
    GPU_COMMUNICATION_BOUND = "gpu_communication_bound"


@dataclass
class CPNode:
    """The start or the end of an event."""

    idx: int = -1
    ev_idx: int = -1
    ts: float = 0
    is_start: bool = False
    is_blocking: bool = False


@dataclass(frozen=True)
class CPEdge:
    """From one node to another, with the microseconds that pass between them; 0 where one only waits for the other."""

    begin: int
    end: int
    type: CPEdgeType
    weight: float = 0


class CPGraph(networkx.DiGraph):  # type: ignore[misc]
    """A graph of networkx whose nodes are numbers in `node_list` and whose edges have a `weight` and an `object`, a CPEdge.

    It may be changed, and `critical_path()` called again.
    """

    def __init__(
        self,
        t: Any = None,
        t_full: Trace | None = None,
        rank: int = 0,
        G: Any = None,
        data_load_events: Sequence[str] | None = None,
    ) -> None:
        super().__init__(G)
        self.rank, self.t, self.t_full, self.as_hta = rank, t, t_full, False
        self.data_load_events = data_load_events
        self.critical_path_nodes: list[int] = []
        self.critical_path_events_set: set[int] = set()
        self.critical_path_edges_set: set[CPEdge] = set()
        self.node_list: list[CPNode] = []
        self.event_to_start_node_map: dict[int, int] = {}
        self.event_to_end_node_map: dict[int, int] = {}
        self.edge_to_event_map: dict[tuple[int, int], int] = {}
        if t_full is not None:
            self.symbol_table, self.as_hta = t_full.symbol_table, t_full.as_hta
            self.full_trace_df = t_full.get_trace(rank)
        self.trace_df = t

    # ---- building ----

    def name_of(self, event: int) -> str:
        return "ROOT" if event < 0 else self.symbol_table.sym_table[self.trace_df["name"].at[event]]

    _get_node_name = name_of

    def _add_edge_helper(self, src: CPNode, dest: CPNode, type: CPEdgeType, zero_weight: bool = False) -> CPEdge:
        weight = 0 if type in TIMELESS or zero_weight else dest.ts - src.ts
        if isinstance(weight, float) and not self.as_hta:
            weight = round(weight, NS)
        edge = CPEdge(src.idx, dest.idx, type, weight)
        self.add_edge(src.idx, dest.idx, weight=weight, object=edge)
        return edge

    connect = _add_edge_helper

    def _attribute_edge(self, e: CPEdge, src_parent: int | None) -> None:
        """Says which event the time of an edge belongs to: the one that both nodes lie in, innermost."""
        if e.type not in ATTRIBUTED:
            return
        first, last = self.node_list[e.begin], self.node_list[e.end]
        event: int | None = src_parent
        if first.is_start or e.type is CPEdgeType.KERNEL_KERNEL_DELAY:
            event = first.ev_idx
        elif not last.is_start:
            event = last.ev_idx
        assert event is not None, "an edge between two events lies in the one around them, which is not given"
        self.edge_to_event_map[(e.begin, e.end)] = int(event)

    attribute = _attribute_edge

    # ---- asking ----

    def get_nodes_for_event(self, ev_id: int) -> tuple[CPNode | None, CPNode | None]:
        """The start and the end of an event; None where it has none."""
        first, last = self.event_to_start_node_map.get(ev_id), self.event_to_end_node_map.get(ev_id)
        return (
            None if first is None else self.node_list[first],
            None if last is None else self.node_list[last],
        )

    def get_events_for_edge(self, edge: CPEdge) -> tuple[int, int]:
        return int(self.node_list[edge.begin].ev_idx), int(self.node_list[edge.end].ev_idx)

    def get_event_attribution_for_edge(self, edge: CPEdge) -> int | None:
        """The event that the edge's time belongs to; None for edges that only order events."""
        return self.edge_to_event_map.get((edge.begin, edge.end))

    def get_edges_attributed_to_event(self, ev_idx: int) -> list[CPEdge]:
        return [self.edges[ends]["object"] for ends, event in self.edge_to_event_map.items() if event == ev_idx]

    # ---- the path ----

    def critical_path(self) -> bool:
        """Finds the longest way; False where the graph cannot be right."""
        if not self._validate_graph():
            return False
        self.critical_path_nodes = networkx.dag_longest_path(self, weight="weight")
        self.critical_path_events_set = {self.node_list[node].ev_idx for node in self.critical_path_nodes}
        ends = zip(self.critical_path_nodes, self.critical_path_nodes[1:])
        self.critical_path_edges_set = {self.edges[pair]["object"] for pair in ends}
        return True

    def _validate_graph(self) -> bool:
        """Is there no circle, and no wait within a stream? A weight below nothing becomes 0, or is refused where CRITICAL_PATH_STRICT… is 1."""
        strict = os.environ.get(STRICT) == "1"
        good = True
        streams = self.trace_df["stream"]
        for first, last, shown in self.edges(data=True):
            edge = shown["object"]
            if edge.weight <= -1 and not strict:
                shown["weight"] = 0
            elif edge.weight < -1:
                good = self._refused("goes back in time", edge)
            if edge.type is CPEdgeType.SYNC_DEPENDENCY:
                sides = [streams.at[self.node_list[node].ev_idx] for node in (first, last)]
                if sides[0] == sides[1] != -1:
                    good = self._refused("waits within one stream", edge)
        if good and not networkx.is_directed_acyclic_graph(self):
            logger.error("the graph of the critical path has a circle: networkx.find_cycle(graph) shows one")
            return False
        return good

    def _refused(self, why: str, edge: CPEdge) -> bool:
        names = [self.name_of(event) for event in self.get_events_for_edge(edge)]
        logger.error("the edge from %s to %s %s", names[0], names[1], why)
        return False

    def get_critical_path_breakdown(self) -> Any:
        """A row for each edge of the path, along it: the event it belongs to, how long it takes and what bounds it."""
        if not self.critical_path_nodes:
            return None
        decode(self.trace_df, self.symbol_table, shortened=True)
        place = {node: at for at, node in enumerate(self.critical_path_nodes)}
        edges = sorted(self.critical_path_edges_set, key=lambda edge: place[edge.begin])
        frame = pd.DataFrame(
            {
                "event_idx": [self.get_event_attribution_for_edge(edge) for edge in edges],
                "duration": [edge.weight for edge in edges], "type": [edge.type.value for edge in edges],
            }
        )  # fmt: skip
        frame["event_idx"] = pd.to_numeric(frame["event_idx"])
        events = self.trace_df[["s_name", "cat", "pid", "tid", "stream", "index"]]
        frame = frame.merge(events, left_on="event_idx", right_on="index", how="left")
        frame["bound_by"] = [self.bound_by(row) for row in frame.to_dict("records")]
        return frame

    def bound_by(self, row: Any) -> str:
        """The bound of an edge: a row of the breakdown. Edges that only order events are bound by nothing, which is "" in HTA."""
        return "" if (found := self._bound_by(CPEdgeType(row["type"]), row)) is None else str(found.value)

    def _bound_by(self, kind: CPEdgeType, row: Any) -> BoundType | None:
        if kind is CPEdgeType.KERNEL_KERNEL_DELAY:
            return BoundType.GPU_KERNEL_KERNEL_OVERHEAD
        if kind is CPEdgeType.KERNEL_LAUNCH_DELAY:
            return BoundType.GPU_KERNEL_LAUNCH_OVERHEAD
        if kind in TIMELESS:
            return None
        if row["stream"] < 0:
            loads = any(re.search(pattern, row["s_name"]) for pattern in self.data_load_events or ())
            return BoundType.DATA_LOADING if loads else BoundType.CPU_BOUND
        communicates = kind_by_name(row["s_name"]) == COMMUNICATION
        return BoundType.GPU_COMMUNICATION_BOUND if communicates else BoundType.GPU_COMPUTE_BOUND

    def summary(self) -> Any:
        """The share of each bound in the path's time, in percent."""
        frame = self.get_critical_path_breakdown()
        if frame is None:
            raise ProgramError("there is no critical path yet: critical_path() of the graph finds it")
        return frame.groupby("bound_by")["duration"].sum() / frame["duration"].sum() * 100

    def show_critical_path(self) -> None:
        for node in self.critical_path_nodes:
            one = self.node_list[node]
            logger.info("%s: %s", one, self.name_of(one.ev_idx))

    # ---- keeping ----

    def save(self, out_dir: str) -> str:
        """Writes the rows as CSV and the graph as JSON into a folder, and both into a ZIP file of its name, which is returned."""
        os.makedirs(out_dir, exist_ok=True)
        table, graph = os.path.join(out_dir, "trace_data.csv"), os.path.join(out_dir, "cp_graph.json")
        self.trace_df.to_csv(table, index=True, index_label="_index_")
        with open(graph, "w", encoding="utf-8") as file:
            json.dump(self._content(), file, default=lambda value: value.item())
        with zipfile.ZipFile(f"{out_dir}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            for path in (table, graph):
                packed.write(path, os.path.basename(path))
        return f"{out_dir}.zip"

    def _content(self) -> dict[str, Any]:
        edges = [
            [first, last, shown["object"].type.name, shown["object"].weight, shown["weight"]]
            for first, last, shown in self.edges(data=True)
        ]
        return {
            "nodes": [asdict(node) for node in self.node_list], "edges": edges, "order": list(self.nodes),
            "path": self.critical_path_nodes, "data_load_events": self.data_load_events,
            "events": [[*ends, event] for ends, event in self.edge_to_event_map.items()],
        }  # fmt: skip


def restore_cpgraph(zip_filename: str, t_full: Trace, rank: int) -> CPGraph:
    """A graph that `save` wrote; `t_full` is the job that it was made of."""
    with zipfile.ZipFile(zip_filename) as packed:
        content = json.loads(packed.read("cp_graph.json"))
        with packed.open("trace_data.csv") as table:
            rows = pd.read_csv(table, keep_default_na=False).set_index("_index_")
    graph = CPGraph(rows, t_full, rank, data_load_events=content["data_load_events"])
    graph.node_list = [CPNode(**node) for node in content["nodes"]]
    graph.add_nodes_from(content["order"])
    for first, last, kind, weight, used in content["edges"]:
        graph.add_edge(first, last, weight=used, object=CPEdge(first, last, CPEdgeType[kind], weight))
    graph.event_to_start_node_map = {node.ev_idx: node.idx for node in graph.node_list if node.is_start}
    graph.event_to_end_node_map = {node.ev_idx: node.idx for node in graph.node_list if not node.is_start}
    graph.edge_to_event_map = {(first, last): event for first, last, event in content["events"]}
    graph.critical_path_nodes = content["path"]
    graph.critical_path_events_set = {graph.node_list[node].ev_idx for node in content["path"]}
    pairs = zip(content["path"], content["path"][1:])
    graph.critical_path_edges_set = {graph.edges[pair]["object"] for pair in pairs}
    return graph
