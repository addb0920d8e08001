# SPDX-License-Identifier: Apache-2.0
"""Small jobs with what gapless.compat.hta must say of them, worked out by hand: steps, ranks, two recordings side by side, figures."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

from compat_hta_cases import DEVICE, HOST, STEP, event, opened
from oracle import Comparison

# Two steps; what the first launched runs while the second goes on.
STEPS = [
    event("user_annotation", "ProfilerStep#1", 0, 100, HOST),
    event("cuda_runtime", "cudaLaunchKernel", 10, 5, HOST, correlation=1),
    event("kernel", "gemm", 150, 20, DEVICE, stream=7, correlation=1),
    event("cuda_runtime", "cudaMemcpyAsync", 20, 5, HOST, correlation=2),
    event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 40, 30, DEVICE, stream=7, correlation=2, bytes=300, **{"memory bandwidth (GB/s)": 10.0}),
    event("user_annotation", "ProfilerStep#2", 100, 100, HOST),
    event("cuda_runtime", "cudaLaunchKernel", 120, 5, HOST, correlation=3),
    event("kernel", "add", 180, 5, DEVICE, stream=7, correlation=3),
]  # fmt: skip


def last_step(check: Comparison, folder: str) -> None:
    analysis = opened(folder, STEPS)
    check.equal("steps", analysis.get_profiler_steps(), [1])
    types, names = analysis.get_gpu_kernel_breakdown(visualize=False)
    check.equal("steps: types", types.to_numpy().tolist(), [["MEMORY", 30, 60.0], ["COMPUTATION", 20, 40.0]])
    check.equal("steps: names", names["name"].tolist(), ["gemm", "Memcpy HtoD (Pageable -> Device)"])
    check.equal("steps: times", analysis.get_temporal_breakdown(visualize=False).iloc[0, 1:5].tolist(), [80, 20, 30, 130])  # fmt: skip
    idle, _ = analysis.get_idle_time_breakdown(visualize=False)
    # The gap before the kernel is no wait for the host: that launched it long before.
    check.equal("steps: idle", idle[["idle_category", "idle_time"]].to_numpy().tolist()[-1], ["other", 80.0])
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    check.equal("steps: launches", launches.to_numpy().tolist(), [[1, 5, 20, 135], [2, 5, 30, 15]])
    kernels = analysis.get_cuda_kernel_launch_stats(include_memory_events=False, visualize=False)[0]
    check.equal("steps: kernels alone", kernels["correlation"].tolist(), [1])
    series = analysis.get_memory_bw_time_series()[0]
    check.equal("steps: bandwidth", series[["ts", "memory_bw_gbps"]].to_numpy().tolist(), [[40, 10.0], [70, 0.0]])
    check.equal("steps: recorded", sorted(analysis.t.get_trace(0)["name"].index), [0, 1, 2, 3, 4])


def idle_streams(check: Comparison, folder: str) -> None:
    """The gaps of each stream, and their share in the stream's own."""
    events = [
        event("kernel", "one", start, 10, {"pid": 0, "tid": stream}, stream=stream, correlation=at)
        for at, (stream, start) in enumerate(((7, 0), (7, 30), (9, 0), (9, 50)), 1)
    ]
    calls = [event("cuda_runtime", "cudaLaunchKernel", 0, 1, HOST, correlation=at) for at in range(1, 5)]
    found, spread = opened(folder, [*calls, *events]).get_idle_time_breakdown(visualize=False, show_idle_interval_stats=True)  # fmt: skip
    long = found[found["idle_time"] > 0]
    check.equal("idle", long[["stream", "idle_category", "idle_time", "idle_time_ratio"]].to_numpy().tolist(), [
        [7, "kernel_wait", 20.0, 1.0], [9, "other", 40.0, 1.0],
    ])  # fmt: skip
    check.equal("idle: longest", spread["max"].dropna().tolist(), [20.0, 40.0])


def queues(check: Comparison, folder: str) -> None:
    analysis = opened(folder, STEP)
    series = analysis.get_queue_length_time_series()
    check.equal("queue", series[0][["ts", "queue_length"]].to_numpy().tolist(), [[20, 1], [40, 0], [75, 1], [110, 0]])
    full = analysis.get_time_spent_blocked_on_full_queue(series, 1)
    check.equal("queue: full", full.to_numpy().tolist(), [[0, 7, 55.0, 0.5]])


def memset_alone(check: Comparison, folder: str) -> None:
    """A memset that a launch of kernels brought is none of the kernels; HTA goes by the launch."""
    from gapless.compat.hta.symbols import as_hta_does

    events = [
        event("cuda_runtime", "cudaLaunchKernel", 0, 1, HOST, correlation=1),
        event("gpu_memset", "Memset (Device)", 5, 1, DEVICE, stream=7, correlation=1),
    ]
    found = opened(folder, events).get_cuda_kernel_launch_stats(include_memory_events=False, visualize=False)[0]
    check.equal("launches: a memset", len(found), int(as_hta_does()))


def statistics(check: Comparison, folder: str) -> None:
    """Two names stay, the smaller ones are put together; HTA's statistics are then those of the sums."""
    import numpy as np
    from gapless.compat.hta.by_name import by_name_of
    from gapless.compat.hta.symbols import as_hta_does

    names, lasting = np.array([0, 0, 1, 2, 3]), np.array([1.0, 3.0, 10.0, 2.0, 2.0])
    found = by_name_of(names, lasting, 2, 0.8, ["a", "b", "c", "d"])
    check.equal("statistics: names", (found["name"], found["sum"].tolist()), (["b", "a", "others"], [10, 4, 4]))
    check.equal("statistics: largest", found["max"].tolist(), [10, 4, 2] if as_hta_does() else [10, 3, 2])
    check.equal("statistics: deviation", found["std"].round(3).tolist(), [0, 0, 0] if as_hta_does() else [0, 1.414, 0])
    running = by_name_of(names, lasting, 3, 1 / 3, ["a", "b", "c", "d"])
    # Running sums 10, 14, 16 and 18: a third of the way is exactly 14, which stays.
    check.equal("statistics: share", running["name"], ["b", "a", "others"])
    few = by_name_of(names, lasting, 4, 0.8, ["a", "b", "c", "d"])
    check.equal("statistics: few names", (few["name"], few["max"].tolist()), (["b", "a", "c", "d"], [10, 3, 2, 2]))


def touching(check: Comparison, folder: str) -> None:
    """Times that touch are one; a combination of two sets runs where both do."""
    import numpy as np
    from gapless.compat.hta import as_hta, intervals

    first = intervals.union(np.array([0, 10, 30]), np.array([10, 20, 40]))
    check.equal("intervals: union", [side.tolist() for side in first], [[0, 30], [20, 40]])
    second = intervals.union(np.array([15]), np.array([35]))
    for one in (intervals.together, as_hta.together):
        check.equal("intervals: together", one([first, second]), {1: 20, 2: 10, 3: 10})
    check.equal("intervals: overlap", as_hta.overlap(first, second), 10)


def annotated(check: Comparison, folder: str) -> None:
    """The inner one of two annotations around a kernel counts; a kernel outside of both has none."""
    marks = [
        event("gpu_user_annotation", "outer", 30, 130, DEVICE),
        event("gpu_user_annotation", "inner", 140, 35, DEVICE),
    ]
    frame = opened(folder, [*STEPS[:5], *marks]).get_gpu_kernels_with_user_annotations(0)
    check.equal("annotations", frame[["s_name", "s_user_annotation"]].sort_values("s_name").to_numpy().tolist(), [
        ["Memcpy HtoD (Pageable -> Device)", "outer"], ["gemm", "inner"],
    ])  # fmt: skip
    sums = opened(folder, marks).get_gpu_user_annotation_breakdown(visualize=False)
    check.equal("annotations: sums", sums[["name", "sum (us)"]].to_numpy().tolist(), [["inner", 35], ["outer", 130]])
    check.equal("annotations: none", opened(folder, STEPS).get_gpu_kernels_with_user_annotations(0), None)


def stragglers(check: Comparison, folder: str) -> None:
    """Rank 2 begins the last communication of the step last, and so waits least in it; rank 1 comes before it."""
    from gapless.compat.hta import TraceAnalysis

    files = {}
    for rank, late in ((0, 0), (1, 10), (2, 20)):
        events = [
            event("user_annotation", "ProfilerStep#1", 0, 100, HOST),
            event("cuda_runtime", "cudaLaunchKernel", 10, 5, HOST, correlation=1),
            event("kernel", "ncclKernel_AllReduce", 40 + late, 40 - late, DEVICE, stream=20, correlation=1),
        ]
        path = Path(folder) / f"rank{rank}.json"
        path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
        files[rank] = str(path)
    analysis = TraceAnalysis(trace_files=files)
    check.equal("stragglers: one", analysis.get_potential_stragglers(num_candidates=1), [2])
    check.equal("stragglers: two", sorted(analysis.get_potential_stragglers(num_candidates=2)), [1, 2])
    hidden = analysis.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"].tolist()
    check.equal("stragglers: nothing hides them", hidden, [0, 0, 0])


def two_jobs(check: Comparison, folder: str) -> None:
    from gapless.compat.hta import DeviceType, LabeledTrace, TraceDiff

    other = [*STEP, event("cpu_op", "aten::add", 150, 7, HOST), event("cpu_op", "aten::new", 160, 1, HOST)]
    first, second = (LabeledTrace(name, t=opened(folder, events).t) for name, events in (("old", STEP), ("new", other)))
    rows = TraceDiff.compare_traces(first, second, device_type=DeviceType.CPU)
    wanted = ["old_counts", "old_total_duration", "new_counts", "new_total_duration", "diff_counts", "diff_duration", "counts_change_categories"]  # fmt: skip
    check.equal("jobs: columns", rows.columns.tolist(), wanted)
    check.equal("jobs: more often", rows.loc["aten::add"].tolist(), [1, 30, 2, 37, 1, 7, "+"])
    kinds = [event("kernel", f"void f<{kind}>({kind})", 300, 4, DEVICE, stream=7, correlation=9) for kind in ("int", "float")]  # fmt: skip
    marked = [event("user_annotation", "ProfilerStep#1", 0, 500, HOST), event("cuda_runtime", "cudaLaunchKernel", 290, 1, HOST, correlation=9)]  # fmt: skip
    short = TraceDiff.compare_traces(opened(folder, [*marked, *kinds]).t, first, use_short_name=True)
    check.equal("jobs: short names", short.loc["f"].tolist()[:2], [2, 8])
    names = TraceDiff.ops_diff(first, second)
    check.equal("jobs: names", [names[one] for one in ("added", "deleted", "increased", "decreased")], [["aten::new"], [], ["aten::add"], []])  # fmt: skip
    figure_of_jobs(check, rows)


def figure_of_jobs(check: Comparison, rows: Any) -> None:
    """Without plotly the figure is refused with what to install."""
    from gapless.compat.hta import TraceDiff, plots

    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *rest: None if name == "plotly" else find(name, *rest)
    try:
        TraceDiff.visualize_counts_diff(rows)
        said = ""
    except plots.PlotlyMissing as error:
        said = str(error)
    finally:
        importlib.util.find_spec = find
    check.equal("figures: refused", said, "the figure needs plotly: pip install plotly; the numbers are in the frame itself")  # fmt: skip


def figures(check: Comparison, folder: str) -> None:
    """Every method that can draw does, where plotly is installed."""
    if importlib.util.find_spec("plotly") is None:
        return
    import plotly.graph_objects as go

    shown: list[str] = []
    show, go.Figure.show = go.Figure.show, lambda self, *_, **__: shown.append(self.layout.title.text)
    try:
        analysis = opened(folder, STEPS)
        for name, least in (
            ("get_temporal_breakdown", 1),
            ("get_gpu_kernel_breakdown", 3),
            ("get_comm_comp_overlap", 1),
            ("get_idle_time_breakdown", 1),
            ("get_cuda_kernel_launch_stats", 3),
        ):
            shown.clear()
            getattr(analysis, name)()
            check.equal(f"figures: {name}", len(shown), least)
        shown.clear()
        analysis.get_gpu_user_annotation_breakdown(use_gpu_annotation=False)
        opened(folder, STEP).get_frequent_cuda_kernel_sequences("aten::mm", folder, min_pattern_len=1, visualize=True)
        check.equal("figures: others", len(shown), 2)
    finally:
        go.Figure.show = show


JOBS = (last_step, idle_streams, queues, memset_alone, statistics, touching, annotated, stragglers, two_jobs, figures)
