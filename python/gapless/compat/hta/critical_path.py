# SPDX-License-Identifier: Apache-2.0
"""The critical path through a part of a recording, and a copy of the file in which it is marked."""

from __future__ import annotations

import logging
import os
from typing import Any, Union

from .graph import CPEdge, CPEdgeType, CPGraph
from .graph_device import Device
from .graph_host import Lock, add_lock_order, add_nodes, add_threads
from .trace import Trace

logger = logging.getLogger("hta")
SHOW_LAUNCHES = "CRITICAL_PATH_SHOW_ZERO_WEIGHT_LAUNCH_EDGE"
DRAWN = (CPEdgeType.DEPENDENCY, CPEdgeType.KERNEL_LAUNCH_DELAY, CPEdgeType.SYNC_DEPENDENCY)
KEPT = ("user_annotation", "python_function")
Instances = Union[int, tuple[int, int], None]


def critical_path_analysis(
    trace: Trace, rank: int, annotation: str, instance_id: Instances, data_load_events: list[str] | None = None
) -> tuple[CPGraph, bool] | None:
    """The graph of the instances of an annotation ("": of everything), and whether its path was found; None without the annotation."""
    rows = trace.get_trace(rank)
    if "cuda_sync" not in trace.symbol_table.sym_index:
        logger.warning(
            "the recording has no synchronisation events, so that the path misses waits: record with "
            "_ExperimentalConfig(enable_cuda_sync_events=True)"
        )
    window = _window(trace, rows, annotation, instance_id)
    if window is None:
        return None
    graph = CPGraph(_clipped(rows, *window, trace), trace, rank, data_load_events=data_load_events)
    lock = Lock(graph)
    add_nodes(graph)
    add_lock_order(graph, lock)
    add_threads(graph, lock)
    Device(graph).walk()
    return graph, graph.critical_path()


def _window(trace: Trace, rows: Any, annotation: str, instance: Instances) -> tuple[float, float] | None:
    """From the start of the first instance to the end of the last."""
    if not annotation:
        return rows["ts"].min(), (rows["ts"] + rows["dur"]).max()
    named = rows[rows["name"].isin(trace.symbol_table.ids_where(lambda name: annotation in name))]
    if not len(named):
        logger.error("the recording has no event with %r in its name", annotation)
        return None
    if instance is not None and not isinstance(instance, (int, tuple)):
        logger.error("instance_id is a number or a pair of numbers, not %r", instance)
        return None
    first, last = instance if isinstance(instance, tuple) else (instance or 0, instance or 0)
    chosen = named.iloc[first : last + 1]
    if not len(chosen):
        raise ValueError(f"there are {len(named)} instances of {annotation!r}, none of them is number {first}")
    return chosen["ts"].min(), (chosen["ts"] + chosen["dur"]).max()


def _clipped(rows: Any, first: float, last: float, trace: Trace) -> Any:
    """All that the host began in the window, what that launched, and all waits between streams; without what took no time."""
    on_host = rows["stream"] == -1
    inside = on_host & rows["ts"].between(first, last) & (rows["dur"] > 0)
    launched = rows["index"].isin(rows["index_correlation"][inside])
    waits = rows["name"] == trace.symbol_table.sym_index.get("Stream Wait Event", -1)
    return rows[inside | (~on_host & (launched | waits))].copy()


def overlay(
    trace: Trace, rank: int, graph: CPGraph, folder: str, only_critical: bool = True, all_edges: bool = False
) -> str:
    """Writes a copy of the rank's file with `critical` at the events of the path and arrows along it, and returns its path."""
    folder = os.path.expanduser(folder)
    if os.path.exists(folder) and not os.path.isdir(folder):
        logger.error("%s is no folder", folder)
        return ""
    os.makedirs(folder, exist_ok=True)
    content = trace.get_raw_trace_for_one_rank(rank)
    events = content["traceEvents"]
    for place in graph.critical_path_events_set:
        events[place].setdefault("args", {})["critical"] = 1
    arrows: list[dict[str, Any]] = []
    for number, edge in enumerate(_drawn(graph, all_edges and not only_critical)):
        arrows += _arrow(graph, edge, number, events)
    if only_critical:
        events = [event for event in events if _is_kept(event)]
    content["traceEvents"] = events + arrows
    path = os.path.join(folder, "overlaid_critical_path_" + os.path.basename(trace.trace_files[rank]))
    trace.write_raw_trace(path, content)
    return path


def _is_kept(event: dict[str, Any]) -> bool:
    return event.get("ph") != "X" or event.get("cat") in KEPT or event.get("args", {}).get("critical") == 1


def _drawn(graph: CPGraph, all_edges: bool) -> list[CPEdge]:
    if not all_edges:
        return [edge for edge in graph.critical_path_edges_set if edge.type in DRAWN]
    edges = [shown["object"] for _, _, shown in graph.edges(data=True)]
    if os.environ.get(SHOW_LAUNCHES) == "1":
        return edges
    return [edge for edge in edges if not is_launch_without_delay(edge)]


def is_launch_without_delay(edge: CPEdge) -> bool:
    return edge.type is CPEdgeType.KERNEL_LAUNCH_DELAY and edge.weight == 0


def _arrow(graph: CPGraph, edge: CPEdge, number: int, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The start and the end of an arrow in the layout of Chrome traces."""
    ends = []
    for is_start, node in ((True, edge.begin), (False, edge.end)):
        event = events[int(graph.node_list[node].ev_idx)]
        at = event["ts"]
        if not graph.node_list[node].is_start:
            on_device = isinstance(device := event.get("args", {}).get("device"), int) and device >= 0
            # An arrow that begins at the very end of an operation is not drawn.
            at += event["dur"] - (min(1, event["dur"]) if on_device else 0)
        args = {"weight": int(edge.weight), "critical": edge in graph.critical_path_edges_set, "type": edge.type.value}
        made = {
            "ph": "s" if is_start else "f", "id": number, "pid": event["pid"], "tid": event["tid"], "ts": int(at),
            "cat": "critical_path", "name": "critical_path", "args": args,
        }  # fmt: skip
        ends.append(made if is_start else made | {"bp": "e"})
    return ends
