# SPDX-License-Identifier: Apache-2.0
"""Analysers of plain figures: of kernels, of a timeline, of several GPUs. None of them needs a recording or the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Union

from . import thresholds
from .bottlenecks import Bottleneck, BottleneckType
from .thresholds import duration_ms, kernel_metric, number, ratio_of, severity_of_share

Kernels = Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]

UNDERUSED = [
    "Profile with Nsight Compute to identify compute bottlenecks",
    "Consider kernel fusion to reduce launch overhead",
    "Optimize algorithm for better parallelism",
]
MEMORY_BOUND = [
    "Reduce memory access: fuse the kernel with its neighbours, or use a narrower type (mixed precision)",
    "Use shared memory for values that several threads read",
    "Coalesce access: neighbouring threads read neighbouring addresses (channels_last for convolutions)",
]
LOW_BANDWIDTH = [
    "Coalesce access, and load several values per thread, so that more requests are under way at once",
    "Give the GPU more work at once: a larger batch, or fused kernels",
]
LOW_OCCUPANCY = ["Increase the block size or the number of blocks", "Reduce register usage or shared memory per block"]
DIVERGENT = ["Remove conditionals that differ between the threads of a warp", "Align memory access to warps"]


class KernelAnalyzer:
    """Verdicts on kernels from hardware metrics, in percent.

    `THRESHOLDS` has the limits; a subclass or an instance may set others. A metric that was not measured gives no finding. A kernel that
    is bound by memory is not also told that it computes little, and low bandwidth is a finding only where computing was not measured.

    >>> found = KernelAnalyzer().analyze({"sm_efficiency": 35.0})
    >>> found[0].type.name, round(found[0].severity, 2), found[0].description, found[0].evidence
    ('KERNEL_EFFICIENCY', 0.65, 'Critically low SM efficiency: 35.0%', {'sm_efficiency': 35.0})
    """

    THRESHOLDS: ClassVar[dict[str, float]] = {
        "sm_efficiency_min": thresholds.SM_EFFICIENCY_PERCENT,
        "memory_bw_utilization_min": thresholds.MEMORY_BANDWIDTH_PERCENT,
        "occupancy_min": thresholds.OCCUPANCY_PERCENT,
        "warp_efficiency_min": thresholds.WARP_EFFICIENCY_PERCENT,
    }

    def analyze(self, kernel_metrics: Kernels) -> list[Bottleneck]:
        """Returns the findings of one kernel, or of a list or mapping (name to metrics) of kernels.

        Metrics have the short names `sm_efficiency`, `memory_bw_utilization`, `occupancy`, `warp_efficiency`, or those of Nsight Compute.
        Severity is 1 − metric / 100, of a memory-bound kernel its memory bandwidth / 100. With several kernels it is weighted by `time_ms`
        (or `_ns`, `_us`, `_s`) against the longest kernel, and the worst comes first; with `share_of_step` (0–1) it is that of the share,
        as in `gapless analyze`. Raises ValueError for a metric that is no number.
        """
        kernels = _kernels(kernel_metrics)
        times = [duration_ms(metrics, ("time", "duration")) for _, metrics in kernels]
        longest = max((time for time in times if time), default=None)
        found: list[Bottleneck] = []
        for (name, metrics), time in zip(kernels, times):
            weight = 1.0 if longest is None or len(kernels) == 1 else (time or 0.0) / longest
            found += self._findings(name, metrics, weight)
        return found if len(kernels) == 1 else sorted(found, key=lambda bottleneck: -bottleneck.severity)

    def _findings(self, name: str, metrics: Mapping[str, Any], weight: float) -> list[Bottleneck]:
        limits = self.THRESHOLDS
        sm, bandwidth, occupancy, warp = (kernel_metric(metrics, metric) for metric in thresholds.METRICS)
        share = number(metrics.get("share_of_step"), "share_of_step")
        found: list[Bottleneck] = []

        def add(kind: BottleneckType, level: float, text: str, evidence: dict[str, Any], advice: list[str]) -> None:
            severity = severity_of_share(share) if share is not None else min(1.0, max(0.0, level)) * weight
            facts = {"kernel": name, **evidence} if name else evidence
            text = f"{name}: {text}" if name else text
            found.append(Bottleneck(kind, severity, text, facts, list(advice), share_of_step=share))

        underused = sm is not None and sm < limits["sm_efficiency_min"]
        memory_bound = underused and bandwidth is not None and bandwidth > thresholds.MEMORY_BOUND_PERCENT
        if sm is not None and underused and not memory_bound:
            low = "Critically low" if sm < thresholds.SM_EFFICIENCY_CRITICAL_PERCENT else "Low"
            text = f"{low} SM efficiency: {sm:.1f}%"
            add(BottleneckType.KERNEL_EFFICIENCY, 1 - sm / 100, text, {"sm_efficiency": sm}, UNDERUSED)
        if bandwidth is not None:
            facts = {"memory_bw_utilization": bandwidth, **({} if sm is None else {"sm_efficiency": sm})}
            kind = BottleneckType.MEMORY_BANDWIDTH
            if memory_bound:
                text = f"Memory bound: memory bandwidth at {bandwidth:.1f}% of its peak, SM efficiency {sm:.1f}%"
                add(kind, bandwidth / 100, text, facts, MEMORY_BOUND)
            elif bandwidth < limits["memory_bw_utilization_min"] and sm is None:
                text = f"Low memory bandwidth utilization: {bandwidth:.1f}%"
                add(kind, 1 - bandwidth / 100, text, facts, LOW_BANDWIDTH)
        kind = BottleneckType.KERNEL_EFFICIENCY
        if occupancy is not None and occupancy < limits["occupancy_min"]:
            add(kind, 1 - occupancy / 100, f"Low occupancy: {occupancy:.1f}%", {"occupancy": occupancy}, LOW_OCCUPANCY)
        if warp is not None and warp < limits["warp_efficiency_min"]:
            text = f"Branch divergence: warp efficiency {warp:.1f}%"
            add(kind, 1 - warp / 100, text, {"warp_efficiency": warp}, DIVERGENT)
        return found


class DataLoadingAnalyzer:
    """Verdicts on the loading of data from the figures of a timeline.

    >>> found = DataLoadingAnalyzer().analyze({"gaps_ms": [0.2, 12.0, 9.0], "step_time_ms": 60.0})
    >>> found[0].type.name, found[0].recommendations[0], found[0].evidence["longest_gap_ms"]
    ('DATA_LOADING', 'Increase num_workers in DataLoader', 12.0)
    """

    def analyze(self, timeline_data: Mapping[str, Any]) -> list[Bottleneck]:
        """Returns what delays the GPU, worst first. A figure that is not given makes no finding.

        Reads times in any unit, by the ending of the name (`_ms`, `_ns`, `_us`, `_s`): `step_time` (or `total_time`), `h2d_time`,
        `cpu_time`, `gpu_time` (or `kernel_time`), the list `gaps_ms` between kernels, and what `NsightSystemsProfiler.analyze_timeline`
        returns: `gpu_idle_time_ms`, `sync_overhead_ms`, `memory_transfer_concurrent`. It also reads `cuda_kernels` and `cuda_memory`
        as Nsight Systems lists them: [{"name", "time_ns", "start_ns"}], [{"type": "HtoD", "time_ns"}]. The step is then their span.
        """
        data = {**_of_events(timeline_data), **timeline_data}
        step = duration_ms(data, ("step_time", "total_time", "span"))
        copies = duration_ms(data, ("h2d_time", "memory_transfer_time"))
        cpu, gpu = duration_ms(data, ("cpu_time",)), duration_ms(data, ("gpu_time", "kernel_time"))
        idle = _long_gaps(data, step) or _idle_time(data)
        found = [idle, _copies(copies, step), _preprocessing(cpu, gpu)]
        return sorted((each for each in found if each is not None), key=lambda bottleneck: -bottleneck.severity)


class MultiGPUAnalyzer:
    """Verdicts on several GPUs from their times.

    >>> found = MultiGPUAnalyzer().analyze({"allreduce_time_ms": 30, "step_time_ms": 100}, num_gpus=4)
    >>> found[0].type.name, found[0].description
    ('MULTI_GPU_COMM', 'Gradient synchronization takes 30.0% of the step')
    >>> round(MultiGPUAnalyzer().scaling_efficiency({"single_gpu_time_s": 8.0, "multi_gpu_time_s": 2.5}, 4) or 0, 1)
    80.0
    """

    def analyze(self, nccl_metrics: Mapping[str, Any], num_gpus: int) -> list[Bottleneck]:
        """Returns what the GPUs lose to each other, worst first; nothing for fewer than two.

        Reads times in any unit, by the ending of the name: `step_time`, `allreduce_time` (or `nccl_time`, `comm_time`),
        `single_gpu_time` and `multi_gpu_time` of the same work, `overlap_time` of communication under computation, and
        `gpu_times_ms` (a list, or by rank) or `max_gpu_time` and `min_gpu_time`; and `gradient_as_bucket_view` (True or False). Two times
        without a unit are a ratio, too, and so are the keys of the evidence: `nccl_share` and `overlap_share` (0–1), `imbalance`,
        `scaling_efficiency` (percent). Instead of the times of the same work, `single_gpu_throughput` and `total_throughput`.
        """
        if num_gpus < 2:
            return []
        exchange = _communication(nccl_metrics) or _no_bucket_view(nccl_metrics)
        found = [exchange, _imbalance(nccl_metrics), self._scaling(nccl_metrics, num_gpus)]
        return sorted((each for each in found if each is not None), key=lambda bottleneck: -bottleneck.severity)

    def scaling_efficiency(self, nccl_metrics: Mapping[str, Any], num_gpus: int) -> float | None:
        """Returns the speedup over one GPU, divided by the number of GPUs, in percent; None where it was not measured."""
        known = number(nccl_metrics.get("scaling_efficiency"), "scaling_efficiency")
        speedup = ratio_of(nccl_metrics, ("single_gpu_time",), ("multi_gpu_time",))
        if known is not None or speedup is not None:
            return known if speedup is None else speedup / num_gpus * 100
        alone, together = (
            number(nccl_metrics.get(name), name) for name in ("single_gpu_throughput", "total_throughput")
        )
        return together / alone / num_gpus * 100 if alone and together else None

    def _scaling(self, metrics: Mapping[str, Any], num_gpus: int) -> Bottleneck | None:
        efficiency = self.scaling_efficiency(metrics, num_gpus)
        if efficiency is None or efficiency >= thresholds.SCALING_EFFICIENCY * 100:
            return None
        return _of_share(
            BottleneckType.MULTI_GPU_COMM, 1 - efficiency / 100, f"Scaling efficiency of {num_gpus} GPUs: {efficiency:.1f}%",
            {"scaling_efficiency": efficiency, "num_gpus": num_gpus},
            ["Record all ranks (gapless profile -- torchrun …) and see which of them communicate, wait, or compute longer than one alone"],
        )  # fmt: skip


def _kernels(given: Kernels) -> list[tuple[str, Mapping[str, Any]]]:
    if isinstance(given, Mapping):
        if not any(isinstance(value, Mapping) for value in given.values()):
            return [(str(given.get("kernel") or given.get("name") or ""), given)]
        given = [{"name": name, **value} for name, value in given.items() if isinstance(value, Mapping)]
    return [(str(metrics.get("kernel") or metrics.get("name") or ""), metrics) for metrics in given]


def _of_events(data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the figures of lists of kernels and copies as Nsight Systems has them."""
    kernels: list[Mapping[str, Any]] = list(data.get("cuda_kernels") or ())
    copies: list[Mapping[str, Any]] = list(data.get("cuda_memory") or ())
    found: dict[str, Any] = {}
    if kernels:
        found["kernel_time_ns"] = sum(kernel.get("time_ns") or 0 for kernel in kernels)
    to_gpu = [copy.get("time_ns") or 0 for copy in copies if str(copy.get("type")).lower() in ("htod", "h2d")]
    if to_gpu:
        found["h2d_time_ns"] = sum(to_gpu)
    spans = sorted(
        (event["start_ns"], event["start_ns"] + event.get("time_ns", 0)) for event in kernels if "start_ns" in event
    )
    if len(spans) > 1:
        end, gaps = spans[0][1], []
        for start, stop in spans[1:]:
            if start > end:
                gaps.append((start - end) / 1e6)
            end = max(end, stop)
        found.update(gaps_ms=gaps, span_ns=end - spans[0][0])
    return found


def _of_share(
    kind: BottleneckType, share: float, text: str, evidence: dict[str, Any], advice: Iterable[str]
) -> Bottleneck:
    share = min(1.0, max(0.0, share))
    return Bottleneck(kind, severity_of_share(share), text, evidence, list(advice), share_of_step=share)


def _long_gaps(data: Mapping[str, Any], step: float | None) -> Bottleneck | None:
    given = data.get("gaps_ms", data.get("kernel_gaps_ms"))
    gaps = [number(gap, "gaps_ms") or 0.0 for gap in ([given] if isinstance(given, (int, float)) else given or ())]
    longest = number(data.get("max_gap_ms"), "max_gap_ms")
    gaps = gaps or ([] if longest is None else [longest])
    long = [gap for gap in gaps if gap > thresholds.LOADING_GAP_MS]
    if not long:
        return None
    total, span = sum(long), step if step else sum(gaps)
    share = total / max(span, total)
    measured = f"GPU idle time detected: {share * 100:.0f}% of training time" if step else "GPU idle time detected"
    return _of_share(
        BottleneckType.DATA_LOADING, share, f"{measured}, in {len(long)} gaps of more than {thresholds.LOADING_GAP_MS:.0f} ms",
        {"gaps": len(long), "longest_gap_ms": max(long), "gap_time_ms": total},
        ["Increase num_workers in DataLoader", "Enable pinned memory (pin_memory=True)"],
    )  # fmt: skip


def _idle_time(data: Mapping[str, Any]) -> Bottleneck | None:
    """The idle time of a timeline, without what the program itself waits for: that is no loading of data."""
    idle, waits = duration_ms(data, ("gpu_idle_time",)), duration_ms(data, ("sync_overhead",))
    total = duration_ms(data, ("total_time", "span", "step_time"))
    if not idle:
        return None
    other = max(0.0, idle - (waits or 0.0))
    share = None if not total else min(1.0, other / max(total, other))
    if not other or (share is not None and share <= thresholds.IDLE_SHARE):
        return None
    evidence: dict[str, Any] = {"gpu_idle_time_ms": idle, **({} if waits is None else {"sync_overhead_ms": waits})}
    advice = ["Increase num_workers in DataLoader", "Enable pinned memory (pin_memory=True)"]
    if data.get("memory_transfer_concurrent") is False:
        evidence["memory_transfer_concurrent"] = False
        advice.append("Copy beside computation: non_blocking=True from pinned memory")
    kind = BottleneckType.DATA_LOADING
    if share is not None:
        text = f"GPU idle time detected: {share * 100:.0f}% of training time, synchronisation left out"
        return _of_share(kind, share, text, evidence, advice)
    text = f"GPU idle time detected: {other:.1f} ms, synchronisation left out (total_time_ms would say how much of the run that is)"
    return Bottleneck(kind, thresholds.WARNING, text, evidence, advice)


def _copies(copies: float | None, step: float | None) -> Bottleneck | None:
    if copies is None or not step or copies / step <= thresholds.COPIES_SHARE:
        return None
    return _of_share(
        BottleneckType.DATA_LOADING, copies / step, f"Copies to the GPU take {copies / step * 100:.0f}% of the step",
        {"h2d_time_ms": copies, "step_time_ms": step},
        [
            "Use pinned memory (pin_memory=True)", "Prefetch to GPU (non_blocking=True)",
            "Reduce batch size if data doesn't fit in GPU memory",
        ],
    )  # fmt: skip


def _preprocessing(cpu: float | None, gpu: float | None) -> Bottleneck | None:
    if cpu is None or gpu is None or cpu <= gpu:
        return None
    return _of_share(
        BottleneckType.DATA_LOADING, (cpu - gpu) / cpu, f"CPU time exceeds GPU time: {cpu:.1f} ms against {gpu:.1f} ms",
        {"cpu_time_ms": cpu, "gpu_time_ms": gpu},
        [
            "Move preprocessing to GPU (using DALI or kornia)", "Simplify transforms",
            "Use faster image decoding (turbojpeg)",
        ],
    )  # fmt: skip


COMMUNICATION, STEP = ("allreduce_time", "nccl_time", "comm_time", "nccl"), ("step_time", "total_step")
BUCKET_VIEW = "Use DistributedDataParallel(model, gradient_as_bucket_view=True)"


def _communication(metrics: Mapping[str, Any]) -> Bottleneck | None:
    share = ratio_of(metrics, COMMUNICATION, STEP)
    share = number(metrics.get("nccl_share"), "nccl_share") if share is None else share
    if share is None or share <= thresholds.COMMUNICATION_SHARE:
        return None
    times = {"nccl_time_ms": duration_ms(metrics, COMMUNICATION), "step_time_ms": duration_ms(metrics, STEP)}
    evidence: dict[str, Any] = {**{name: time for name, time in times.items() if time is not None}, "nccl_share": share}
    advice = [
        "Use gradient accumulation to amortize the cost of communication (no_sync)",
        "Enable peer-to-peer transfers over NVLink (NCCL_P2P_DISABLE=0)",
        "Use FP16 gradients (automatic with mixed precision)",
    ]
    overlap = ratio_of(metrics, ("overlap_time",), COMMUNICATION)
    overlap = number(metrics.get("overlap_share"), "overlap_share") if overlap is None else overlap
    if overlap is not None:
        evidence["overlap_share"] = overlap
        if overlap < thresholds.OVERLAP_SHARE:
            advice.insert(0, "Overlap the gradient all-reduce with the backward pass (DistributedDataParallel does)")
    view = metrics.get("gradient_as_bucket_view")
    if view is not None:
        evidence["gradient_as_bucket_view"] = bool(view)
    if not view:
        advice.append(BUCKET_VIEW)
    text = f"Gradient synchronization takes {share * 100:.1f}% of the step"
    exposed = share if overlap is None else share * max(0.0, 1 - overlap)
    return _of_share(BottleneckType.MULTI_GPU_COMM, exposed, text, evidence, advice)


def _no_bucket_view(metrics: Mapping[str, Any]) -> Bottleneck | None:
    """Gradients that are copied into buckets and back: a copy of each, and memory for it, whatever the exchange takes."""
    if metrics.get("gradient_as_bucket_view") is not False:
        return None
    text = "Gradients are copied into buckets: gradient_as_bucket_view is off"
    return Bottleneck(BottleneckType.MULTI_GPU_COMM, 0.2, text, {"gradient_as_bucket_view": False}, [BUCKET_VIEW])


def _imbalance(metrics: Mapping[str, Any]) -> Bottleneck | None:
    given = metrics.get("gpu_times_ms", metrics.get("per_gpu_time_ms"))
    by_rank = dict(given) if isinstance(given, Mapping) else dict(enumerate(given or ()))
    times = {rank: number(time, f"the time of rank {rank}") for rank, time in by_rank.items()}
    known = [time for time in times.values() if time]
    given_ratio = ratio_of(metrics, ("max_gpu_time",), ("min_gpu_time",))
    given_ratio = number(metrics.get("imbalance"), "imbalance") if given_ratio is None else given_ratio
    most = max(known) if known else duration_ms(metrics, ("max_gpu_time",))
    least = min(known) if known else duration_ms(metrics, ("min_gpu_time",))
    ratio = most / least if known and most and least else given_ratio
    if ratio is None or ratio <= thresholds.IMBALANCE:
        return None
    slowest = next((rank for rank, time in times.items() if time == most), None)
    bounds = {"max_gpu_time_ms": most, "min_gpu_time_ms": least}
    measured = {name: time for name, time in bounds.items() if time is not None}
    who = "the slowest GPU" if slowest is None else f"rank {slowest}"
    return _of_share(
        BottleneckType.MULTI_GPU_COMM, 1 - 1 / ratio, f"Load imbalance: {who} takes {ratio:.2f} times as long as the fastest",
        {**measured, "imbalance": ratio, **({} if slowest is None else {"slowest_rank": slowest})},
        ["Balance data distribution: the same number of samples of the same size on each GPU"],
    )  # fmt: skip
