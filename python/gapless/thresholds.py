# SPDX-License-Identifier: Apache-2.0
"""The limits of the analysers that take plain figures. They are those of the program (`include/gapless/metrics.h`,
`src/diagnose/`); a test compares the two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SM_EFFICIENCY_PERCENT = 60.0  # below: the compute units are underused
SM_EFFICIENCY_CRITICAL_PERCENT = 40.0  # below: critically
MEMORY_BANDWIDTH_PERCENT = 60.0  # below, where computing was not measured: memory is underused
MEMORY_BOUND_PERCENT = 80.0  # above, with underused compute units: bound by memory
OCCUPANCY_PERCENT = 30.0  # below: too few warps to hide latency
WARP_EFFICIENCY_PERCENT = 80.0  # below: threads of a warp diverge
WARP_THREADS = 32

IDLE_GAP_MS = 1.0  # shorter gaps between GPU operations are no idle period of a timeline
LOADING_GAP_MS = 5.0  # longer gaps are waiting for a batch
IDLE_SHARE = 0.05  # of the time, without work on the GPU
COPIES_SHARE = 0.5  # of the step, in copies to the GPU
COMMUNICATION_SHARE = 0.1  # of the step, in NCCL
IMBALANCE = 1.1  # slowest over fastest GPU
SCALING_EFFICIENCY = 0.9  # below: the GPUs do not scale
OVERLAP_SHARE = 0.7  # of communication, under computation
KERNEL_TIME_PERCENT = 80.0  # of GPU time, at least
COPY_TIME_PERCENT = 10.0  # of GPU time, at most

CRITICAL, WARNING = 0.7, 0.4  # severities
SEVERITY_SCALE = 0.15  # severity = 1 − exp(−share of step / 0.15), as everywhere in gapless

METRICS: dict[str, tuple[str, ...]] = {
    "sm_efficiency": (
        "sm_efficiency",
        "sm_throughput_pct",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    "memory_bw_utilization": (
        "memory_bw_utilization",
        "memory_bandwidth_utilization",
        "memory_bandwidth",
        "memory_bw",
        "dram_throughput_pct",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    "occupancy": (
        "occupancy",
        "achieved_occupancy_pct",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
    ),
    "warp_efficiency": (
        "warp_efficiency",
        "warp_efficiency_pct",
        "smsp__thread_inst_executed_per_inst_executed.pct",
    ),
}
ACTIVE_THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"  # of 32
UNITS_IN_MS = {"_ms": 1.0, "_ns": 1e-6, "_us": 1e-3, "_s": 1e3}


def number(value: Any, name: str) -> float | None:
    """Returns a measured value, or None where it was not measured (None or NaN). Raises ValueError for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0 or math.isinf(value):
        raise ValueError(f"cannot use {name}: {value!r} is not a number of 0 or more")
    return None if math.isnan(value) else float(value)


def kernel_metric(metrics: Mapping[str, Any], name: str) -> float | None:
    """Returns a metric of a kernel in percent, under its short name or that of Nsight Compute; None where it was not measured.

    >>> kernel_metric({"sm__throughput.avg.pct_of_peak_sustained_elapsed": 35.0}, "sm_efficiency")
    35.0
    """
    for key in METRICS[name]:
        value = number(metrics.get(key), key)
        if value is not None:
            return value
    threads = number(metrics.get(ACTIVE_THREADS), ACTIVE_THREADS) if name == "warp_efficiency" else None
    return None if threads is None else threads / WARP_THREADS * 100


def duration_ms(data: Mapping[str, Any], names: Iterable[str]) -> float | None:
    """Returns the first of the times that is given, in milliseconds; `step_time` is looked for as step_time_ms, _ns, _us and _s.

    >>> duration_ms({"step_time_s": 0.25}, ["step_time"])
    250.0
    """
    for name in names:
        for unit, factor in UNITS_IN_MS.items():
            value = number(data.get(name + unit), name + unit)
            if value is not None:
                return value * factor
    return None


def ratio_of(data: Mapping[str, Any], above: Sequence[str], below: Sequence[str]) -> float | None:
    """Returns the ratio of two times, which need no unit where neither has one; None where one is missing.

    >>> ratio_of({"max_gpu_time": 115, "min_gpu_time": 100}, ["max_gpu_time"], ["min_gpu_time"])
    1.15
    """
    top, bottom = duration_ms(data, above), duration_ms(data, below)
    if top is None or bottom is None:
        top, bottom = (
            next((found for name in names if (found := number(data.get(name), name)) is not None), None)
            for names in (above, below)
        )
    return None if top is None or not bottom else top / bottom


def severity_of_share(share: float) -> float:
    """Returns the severity of a share of step time, 0–1."""
    return 1 - math.exp(-max(0.0, share) / SEVERITY_SCALE)
