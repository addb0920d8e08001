# SPDX-License-Identifier: Apache-2.0
"""Small recordings with what gapless.compat.hta must say of them, worked out by hand: what needs single events of the file."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oracle import Comparison

HOST, DEVICE = {"pid": 1, "tid": 1}, {"pid": 0, "tid": 7}


def event(cat: str, name: str, ts: float, dur: float, where: dict[str, Any], **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, **where, "args": args}


# Two operators that launch a kernel each; the second kernel waits for the first, and the host for both.
STEP = [
    event("user_annotation", "ProfilerStep#1", 0, 200, HOST),
    event("cpu_op", "aten::mm", 10, 50, HOST),
    event("cuda_runtime", "cudaLaunchKernel", 20, 10, HOST, correlation=1),
    event("kernel", "gemm", 40, 60, DEVICE, stream=7, correlation=1, device=0),
    event("cpu_op", "aten::add", 70, 30, HOST),
    event("cuda_runtime", "cudaLaunchKernel", 75, 5, HOST, correlation=2),
    event("kernel", "add", 110, 20, DEVICE, stream=7, correlation=2, device=0),
    event("cuda_runtime", "cudaDeviceSynchronize", 105, 30, HOST, correlation=3),
    event("cuda_sync", "Context Sync", 106, 28, DEVICE, correlation=3, device=0),
    event("cpu_op", "aten::item", 103, 42, HOST),
]
# Starts and ends by time: mm 0 and 4, its launch 1 and 2, gemm 3 and 8, add 5 and 9, its launch 6 and 7, item 10 and 15, its wait 11 and 14,
# kernel add 12 and 13.
EDGES = {
    (1, 2, "OPERATOR_KERNEL", 10), (6, 7, "OPERATOR_KERNEL", 5), (0, 1, "OPERATOR_KERNEL", 10), (2, 4, "OPERATOR_KERNEL", 30),
    (4, 5, "DEPENDENCY", 0), (5, 6, "OPERATOR_KERNEL", 5), (7, 9, "OPERATOR_KERNEL", 20), (9, 10, "DEPENDENCY", 0),
    (10, 11, "OPERATOR_KERNEL", 2), (11, 14, "OPERATOR_KERNEL", 0), (14, 15, "OPERATOR_KERNEL", 10), (3, 8, "OPERATOR_KERNEL", 60),
    (1, 3, "KERNEL_LAUNCH_DELAY", 20), (12, 13, "OPERATOR_KERNEL", 20), (8, 12, "KERNEL_KERNEL_DELAY", 10),
    (13, 14, "SYNC_DEPENDENCY", 0),
}  # fmt: skip
OWNERS = {
    (1, 2): 2, (6, 7): 5, (0, 1): 1, (2, 4): 1, (5, 6): 4, (7, 9): 4, (10, 11): 9, (11, 14): 7, (14, 15): 9, (3, 8): 3, (12, 13): 6,
    (8, 12): 3,
}  # fmt: skip
PATH = [0, 1, 3, 8, 12, 13, 14, 15]
BOUNDS = [
    "cpu_bound", "gpu_kernel_launch_overhead", "gpu_compute_bound", "gpu_kernel_kernel_overhead", "gpu_compute_bound", "", "cpu_bound",
]  # fmt: skip

# The same launches with CUPTI's counters, which belong to them by their order.
COUNTED = [
    *STEP,
    event("cuda_profiler_range", "gemm", 300, 1, DEVICE, flops=64),
    event("cuda_profiler_range", "add", 400, 1, DEVICE, flops=8),
]

# A stream that waits for an event of another one: the kernel after the wait starts when the one before the record has ended.
TWO_STREAMS = [
    event("cpu_op", "aten::mul", 0, 100, HOST),
    event("cuda_runtime", "cudaLaunchKernel", 10, 5, HOST, correlation=1),
    event("kernel", "first", 20, 50, {"pid": 0, "tid": 7}, stream=7, correlation=1),
    event("cuda_runtime", "cudaEventRecord", 16, 2, HOST, correlation=2),
    event("cuda_runtime", "cudaStreamWaitEvent", 19, 2, HOST, correlation=3),
    event("cuda_sync", "Stream Wait Event", 22, 1, {"pid": 0, "tid": 9}, stream=9, correlation=3, wait_on_stream=7, wait_on_cuda_event_record_corr_id=2),
    event("cuda_runtime", "cudaLaunchKernel", 25, 5, HOST, correlation=4),
    event("kernel", "second", 72, 10, {"pid": 0, "tid": 9}, stream=9, correlation=4),
]  # fmt: skip


def opened(folder: str, events: list[dict[str, Any]]) -> Any:
    from gapless.compat.hta import TraceAnalysis

    path = Path(folder) / "rank0.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    return TraceAnalysis(trace_files={0: str(path)})


def _edges(graph: Any) -> set[tuple[int, int, str, float]]:
    return {(one, other, it["object"].type.name, it["object"].weight) for one, other, it in graph.edges(data=True)}


def critical_path(check: Comparison, folder: str) -> None:
    analysis = opened(folder, STEP)
    graph, found = analysis.critical_path_analysis(0, "ProfilerStep", 0)
    check.equal("path: found", found, True)
    check.equal("path: edges", _edges(graph), EDGES)
    check.equal("path: owners", graph.edge_to_event_map, OWNERS)
    check.equal("path: nodes", graph.critical_path_nodes, PATH)
    check.equal("path: events", graph.critical_path_events_set, {1, 2, 3, 6, 7, 9})
    check.equal("path: of an event", [node.idx for node in graph.get_nodes_for_event(4)], [5, 9])
    edge = graph.edges[2, 4]["object"]
    check.equal("path: events of an edge", graph.get_events_for_edge(edge), (2, 1))
    check.equal("path: edges of an event", graph.get_edges_attributed_to_event(1), [graph.edges[0, 1]["object"], edge])
    frame = graph.get_critical_path_breakdown()
    check.equal("path: bounds", frame["bound_by"].tolist(), BOUNDS)
    check.equal("path: durations", frame["duration"].tolist(), [10, 20, 60, 10, 20, 0, 10])
    check.equal("path: names", frame["s_name"].tolist()[0:3:2], ["aten::mm", "gemm"])
    shares = graph.summary().round(3).to_dict()
    wanted = {"": 0, "cpu_bound": 15.385, "gpu_compute_bound": 61.538, "gpu_kernel_kernel_overhead": 7.692, "gpu_kernel_launch_overhead": 15.385}  # fmt: skip
    check.equal("path: shares", shares, wanted)
    kept(check, analysis, graph, folder)
    drawn(check, analysis, graph, folder)
    graph[3][8]["weight"] = 0  # a kernel that takes no time: the host's own way is longest
    graph.critical_path()
    check.equal("path: without the kernel", 4 in graph.critical_path_nodes, True)
    check.equal("path: no such annotation", analysis.critical_path_analysis(0, "absent", 0), None)


def kept(check: Comparison, analysis: Any, graph: Any, folder: str) -> None:
    from gapless.compat.hta.analyzers.critical_path_analysis import restore_cpgraph

    again = restore_cpgraph(graph.save(os.path.join(folder, "kept")), analysis.t, 0)
    check.equal("kept: edges", _edges(again), EDGES)
    check.equal("kept: path", again.critical_path_nodes, PATH)
    again.critical_path()
    check.equal("kept: path, found again", again.critical_path_nodes, PATH)
    check.equal("kept: shares", again.summary().to_dict(), graph.summary().to_dict())


def drawn(check: Comparison, analysis: Any, graph: Any, folder: str) -> None:
    def events_of(**options: bool) -> list[dict[str, Any]]:
        path = analysis.overlay_critical_path_analysis(0, graph, os.path.join(folder, "drawn"), **options)
        with gzip.open(path) as file:
            found: list[dict[str, Any]] = json.load(file)["traceEvents"]
        return found

    few = events_of()
    spans = [one["name"] for one in few if one["ph"] == "X"]
    check.equal("drawn: spans", spans, ["ProfilerStep#1", "aten::mm", "cudaLaunchKernel", "gemm", "add", "cudaDeviceSynchronize", "aten::item"])  # fmt: skip
    arrows = [(one["ph"], one["ts"], one["args"]["type"]) for one in few if one["ph"] in "sf"]
    launch, wait = "critical_path_kernel_launch_delay", "critical_path_sync_dependency"
    # The end of an operation is drawn 1 us earlier, that of a call where it is.
    wanted = [("s", 20, launch), ("f", 40, launch), ("s", 129, wait), ("f", 135, wait)]
    check.equal("drawn: arrows", sorted(arrows), sorted(wanted))
    every = events_of(only_show_critical_events=False, show_all_edges=True)
    check.equal("drawn: all arrows", sum(one["ph"] == "s" for one in every), len(EDGES))
    critical = sum(one["args"]["critical"] for one in every if one["ph"] == "s")
    check.equal("drawn: all spans, critical arrows", (len(every) - 2 * len(EDGES), critical), (len(STEP), len(PATH) - 1))  # fmt: skip


def two_streams(check: Comparison, folder: str) -> None:
    graph, found = opened(folder, TWO_STREAMS).critical_path_analysis(0, "", None)
    check.equal("streams: found", found, True)
    (_, end), (start, _) = graph.get_nodes_for_event(2), graph.get_nodes_for_event(7)
    between = graph.get_edge_data(end.idx, start.idx)
    check.equal("streams: wait", between and between["object"].type.name, "SYNC_DEPENDENCY")
    check.equal("streams: no launch delay", any(it["object"].type.name == "KERNEL_LAUNCH_DELAY" and other == start.idx for _, other, it in graph.edges(data=True)), False)  # fmt: skip


def siblings(check: Comparison, folder: str) -> None:
    """The time between two calls within an operator is the operator's, and the lock of the calls does not stand for it."""
    calls = [event("cuda_runtime", "cudaLaunchKernel", ts, 10, HOST, correlation=at) for at, ts in ((1, 10), (2, 30))]
    work = [event("kernel", "add", ts, 5, DEVICE, stream=7, correlation=at) for at, ts in ((1, 22), (2, 45))]
    graph, found = opened(folder, [event("cpu_op", "aten::add", 0, 100, HOST), *calls, *work]).critical_path_analysis(0, "", None)  # fmt: skip
    check.equal("siblings: found", found, True)
    (_, end), (start, _) = graph.get_nodes_for_event(1), graph.get_nodes_for_event(2)
    between = graph.get_edge_data(end.idx, start.idx)
    check.equal("siblings: between", between and (between["weight"], graph.get_event_attribution_for_edge(between["object"])), (10, 0))  # fmt: skip


def one_lock(check: Comparison, folder: str) -> None:
    """A call within another one that needs the lock, too: the outer one goes on when the inner one has ended."""
    calls = [
        event("cuda_runtime", "cudaMemcpyAsync", 10, 30, HOST),
        event("cuda_runtime", "cudaHostAlloc", 15, 10, HOST),
    ]
    later = [one | {"ts": one["ts"] + 100} for one in STEP[1:4]]
    graph, _ = opened(folder, [*calls, *later]).critical_path_analysis(0, "", None)
    (outer, returned), (_, end) = graph.get_nodes_for_event(0), graph.get_nodes_for_event(1)
    kinds = [graph.edges[pair]["object"].type.name for pair in ((outer.idx, end.idx), (end.idx, returned.idx))]
    check.equal("lock", kinds, ["DEPENDENCY", "DEPENDENCY"])


def counters(check: Comparison, folder: str) -> None:
    (frame,) = opened(folder, COUNTED).get_cupti_counter_data_with_operators()
    check.equal("counters", frame[["name", "flops", "top_level_op", "bottom_level_op", "index_runtime"]].to_numpy().tolist(), [
        ["gemm", 64, "aten::mm", "aten::mm", 2], ["add", 8, "aten::add", "aten::add", 5],
    ])  # fmt: skip
    check.equal("counters: stacks", frame["op_stack"].tolist(), [["aten::mm"], ["aten::add"]])
    check.equal("counters: launches without", opened(folder, COUNTED[:-1]).get_cupti_counter_data_with_operators(), [])
    check.equal("counters: none", opened(folder, STEP).get_cupti_counter_data_with_operators(), [])


def recorded(check: Comparison, folder: str) -> None:
    analysis = opened(folder, STEP)
    frame = analysis.t.get_trace(0)
    check.equal("recorded: places", frame.index.tolist(), list(range(len(STEP))))
    check.equal("recorded: partners", frame["index_correlation"].tolist(), [-1, -1, 3, 2, -1, 6, 5, 8, 7, -1])
    check.equal("recorded: steps", set(frame["iteration"]), {1})
    launches = analysis.get_aten_op_kernels_and_delay()[0].sort_values("aten_op_name").to_numpy().tolist()
    check.equal("operators", launches, [["aten::add", "add", 1, 5.0, 35.0], ["aten::mm", "gemm", 1, 10.0, 20.0]])
    sequences = analysis.get_frequent_cuda_kernel_sequences("aten::mm", folder, min_pattern_len=1)
    check.equal("sequences", sequences.to_numpy().tolist(), [["aten::mm|gemm", 1, 60, 50]])
    with gzip.open(os.path.join(folder, "overlaid_rank0.json")) as file:
        marked = [one["name"] for one in json.load(file)["traceEvents"] if "Patterns" in one.get("args", {})]
    check.equal("sequences: marked", marked, ["aten::mm", "cudaLaunchKernel", "gemm"])


CASES: tuple[Callable[[Comparison, str], None], ...] = (
    critical_path,
    two_streams,
    siblings,
    one_lock,
    counters,
    recorded,
)


def failures() -> list[str]:
    """Every case with right values and with HTA's own, which are the same here."""
    from compat_hta_jobs import JOBS

    found = []
    for bugs in ("0", "1"):
        os.environ["GAPLESS_HTA_BUGS"] = bugs
        check = Comparison(f"GAPLESS_HTA_BUGS={bugs}")
        for case in (*CASES, *JOBS):
            with tempfile.TemporaryDirectory() as folder:
                case(check, folder)
        found += [str(difference) for difference in check.differences]
    return found
