# SPDX-License-Identifier: Apache-2.0
"""TraceAnalysis with HTA's methods, arguments and frames; docs/hta.md says where the numbers differ."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable

from . import breakdown, communication, counters, cupti, idle, launches, sequences
from .communication import find_stragglers_with_late_start_comm_kernels
from .trace import DEFAULT_TRACE_DIR, Files, Trace

if TYPE_CHECKING:
    from .critical_path import Instances
    from .graph import CPGraph


class TimeSeriesTypes(enum.Flag):
    QUEUE_LENGTH = enum.auto()
    MEMCPY_BANDWIDTH = enum.auto()


class TraceAnalysis:
    """The recordings of a job, one for each rank: files by rank, a list of files, or the files of a folder.

    The last of several steps is left out unless `include_last_profiler_step`. `t` holds the rows.
    """

    def __init__(
        self,
        trace_files: Files = None,
        trace_dir: str = DEFAULT_TRACE_DIR,
        include_last_profiler_step: bool | None = False,
    ) -> None:
        self.t = Trace(trace_files, trace_dir)
        self.t.load_traces(include_last_profiler_step)

    def get_temporal_breakdown(self, visualize: bool = True) -> Any:
        """Idle, computing and other time of each rank, from its first operation to its last."""
        return breakdown.temporal_breakdown(self.t, visualize)

    def get_gpu_kernel_breakdown(
        self,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = True,
        image_renderer: str = "",
    ) -> tuple[Any, Any]:
        """Time by kind of kernel over all ranks, and by name on each."""
        return breakdown.kernel_breakdown(
            self.t, visualize, duration_ratio, num_kernels, include_memory_kernels, image_renderer
        )

    def get_gpu_kernels_with_user_annotations(
        self, rank: int, expand_names: bool = True, shorten_names: bool = True
    ) -> Any:
        """The operations of a rank, each with the innermost annotation on its stream; None without annotations."""
        return breakdown.kernels_with_annotations(self.t, rank, expand_names, shorten_names)

    def get_gpu_user_annotation_breakdown(
        self,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: list[str] | None = None,
        image_renderer: str | None = None,
    ) -> Any:
        """Time by name of annotation on each rank; None without annotations."""
        return breakdown.annotation_breakdown(
            self.t, use_gpu_annotation, visualize, duration_ratio, num_kernels, allowlist_patterns, image_renderer
        )

    def get_idle_time_breakdown(
        self,
        ranks: Sequence[int] | None = None,
        streams: Sequence[int] | None = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
        consecutive_kernel_delay: float = 30,
    ) -> tuple[Any, Any]:
        """Idle time of each stream by cause; statistics of the intervals if they are asked for. The delay is in us."""
        return idle.idle_time_breakdown(
            self.t, ranks, streams, visualize, visualize_pctg, show_idle_interval_stats, consecutive_kernel_delay
        )

    def get_comm_comp_overlap(self, visualize: bool = True) -> Any:
        """The share of each rank's communication that computation hides, in percent; NaN without communication."""
        return communication.comm_comp_overlap(self.t, visualize)

    def get_profiler_steps(self) -> list[int]:
        return communication.profiler_steps(self.t)

    def get_potential_stragglers(
        self,
        profiler_steps: Sequence[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: Callable[..., Any] = find_stragglers_with_late_start_comm_kernels,
    ) -> list[int]:
        """The ranks that most often begin the communication last."""
        return communication.potential_stragglers(
            self.t, profiler_steps, num_candidates, visualize, straggler_identification_impl
        )

    def get_cuda_kernel_launch_stats(
        self,
        ranks: Sequence[int] | None = None,
        runtime_cutoff: float = 50,
        launch_delay_cutoff: float = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> dict[int, Any]:
        """Durations of each launch and its operation, and the delay between them; the cutoffs are those of the figures."""
        return launches.launch_stats(
            self.t, ranks, runtime_cutoff, launch_delay_cutoff, include_memory_events, visualize
        )

    def get_aten_op_kernels_and_delay(
        self, ranks: Sequence[int] | None = None, sort_by: Sequence[str] | None = None
    ) -> dict[int, Any]:
        """The kernels that each aten:: operator launches, how often, and the delays before the first of them."""
        return launches.aten_op_kernels(self.t, ranks, sort_by)

    def get_frequent_cuda_kernel_sequences(
        self,
        operator_name: str,
        output_dir: str,
        min_pattern_len: int = 3,
        rank: int = 0,
        top_k: int = 5,
        visualize: bool = False,
        compress_other_kernels: bool = True,
    ) -> Any:
        """The sequences of kernels that operators of this name launch; writes overlaid_<file> in which they are marked."""
        return sequences.frequent_sequences(
            self.t, operator_name, output_dir, min_pattern_len, rank, top_k, visualize, compress_other_kernels
        )

    def get_queue_length_time_series(self, ranks: Sequence[int] | None = None) -> dict[int, Any]:
        """The operations of each stream that were launched and had not begun, at each change."""
        return counters.queue_length_series(self.t, ranks)

    def get_queue_length_summary(self, ranks: Sequence[int] | None = None) -> Any:
        return counters.queue_length_summary(counters.queue_length_series(self.t, ranks))

    def get_queue_length_summary_from_time_series(self, queue_length_dict: dict[int, Any]) -> Any:
        return counters.queue_length_summary(queue_length_dict)

    def get_time_spent_blocked_on_full_queue(
        self, queue_length_dict: dict[int, Any], max_queue_length: int = counters.FULL_QUEUE
    ) -> Any:
        """The time in which the queue of each stream was full, also as a share of the recording."""
        return counters.time_on_full_queue(self.t, queue_length_dict, max_queue_length)

    def get_memory_bw_time_series(self, ranks: Sequence[int] | None = None) -> dict[int, Any]:
        """The bandwidth of the copies and fills that run, by kind, at each change."""
        return counters.memory_bandwidth_series(self.t, ranks)

    def get_memory_bw_summary(self, ranks: Sequence[int] | None = None) -> Any:
        return counters.memory_bandwidth_summary(self.t, ranks)

    def generate_trace_with_counters(
        self,
        time_series: TimeSeriesTypes | None = None,
        ranks: Sequence[int] | None = None,
        output_suffix: str = "_with_counters",
    ) -> None:
        """Writes a copy of each file beside it, with the series as counters."""
        wanted = time_series or TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH
        series = {}
        if TimeSeriesTypes.QUEUE_LENGTH in wanted:
            series["Queue Length"] = (self.get_queue_length_time_series(ranks), "queue_length")
        if TimeSeriesTypes.MEMCPY_BANDWIDTH in wanted:
            series["Memcpy BW"] = (self.get_memory_bw_time_series(ranks), "memory_bw_gbps")
        counters.write_with_counters(self.t, series, output_suffix or "_with_counters")

    def get_cupti_counter_data_with_operators(self, ranks: Sequence[int] | None = None) -> list[Any]:
        """The kernels that CUPTI counted on each rank, a column for each counter, with the operators around their launch."""
        return cupti.counters_with_operators(self.t, ranks)

    def critical_path_analysis(
        self, rank: int, annotation: str, instance_id: Instances, data_load_events: list[str] | None = None
    ) -> tuple[CPGraph, bool] | None:
        """The graph of what waited for what in instances of an annotation, and whether its longest way was found.

        `annotation` is a part of a name ("": all that was recorded), `instance_id` its number or the numbers of the first and the last one.
        """
        from .critical_path import critical_path_analysis

        return critical_path_analysis(self.t, rank, annotation, instance_id, data_load_events)

    def overlay_critical_path_analysis(
        self,
        rank: int,
        critical_path_graph: CPGraph,
        output_dir: str,
        only_show_critical_events: bool = True,
        show_all_edges: bool = False,
    ) -> str:
        """Writes a copy of the rank's file in which the path is marked, and returns where."""
        from .critical_path import overlay

        return overlay(self.t, rank, critical_path_graph, output_dir, only_show_critical_events, show_all_edges)
