# SPDX-License-Identifier: Apache-2.0
"""The metrics of a benchmark."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .record import Record, hidden


def plain(value: Any) -> Any:
    """Returns `value` as JSON can hold it: dataclasses as dictionaries, NaN and infinities as None."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fields_of(value: Any) -> dict[str, Any]:
    """The shown fields of a dataclass, as `plain` has them."""
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value) if field.repr}


@dataclass
class PerformanceMetrics(Record):
    """The figures of a training. A figure that is not known is None, never 0.

    `gpu_utilization` is the busy share of the GPU in percent (0–100), as nvidia-smi samples it; without a GPU it is the share of the
    processors that the process uses, and `gpu_utilization_source` says which: "nvml" or "cpu". `memory_usage_gb` is the peak memory of
    the training in 1e9 bytes, as everywhere (docs/definitions.md): what PyTorch's allocator held on the device, without a GPU the resident
    memory of the process; `memory_usage_source` is "allocator" or "host". Of two models in one process each counts without the other. `multi_gpu_scaling_efficiency` is throughput per process over that of the smallest
    number of processes. `step_time_ms` is the mean; `step_times_ms` has every measured step.

    >>> metrics = PerformanceMetrics(samples_per_second=4800.0, gpu_utilization=87.0)
    >>> metrics.samples_per_second, metrics["gpu_utilization"], metrics["memory_usage_gb"]
    (4800.0, 87.0, None)
    """

    samples_per_second: float | None = None
    gpu_utilization: float | None = None
    memory_usage_gb: float | None = None
    multi_gpu_scaling_efficiency: float | None = None
    step_time_ms: float | None = None
    step_time_p50_ms: float | None = None
    step_time_p95_ms: float | None = None
    step_time_p99_ms: float | None = None
    step_time_std_ms: float | None = None
    gpu_utilization_source: str | None = None
    memory_usage_source: str | None = None
    step_times_ms: list[float] = hidden(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Returns the metrics by name, without the times of single steps."""
        return fields_of(self)

    @classmethod
    def of_steps(cls, step_times_ms: Sequence[float], samples: int | None) -> PerformanceMetrics:
        """Returns the metrics of steps from their times and the number of samples of all; `samples` is None if it is not known."""
        times = sorted(step_times_ms)
        if not times:
            return cls()
        total_ms = math.fsum(times)
        mean = total_ms / len(times)
        spread = math.fsum((step_time - mean) ** 2 for step_time in times)
        return cls(
            samples_per_second=None if samples is None or total_ms <= 0 else samples / total_ms * 1e3,
            step_time_ms=mean,
            step_time_p50_ms=quantile(times, 0.5),
            step_time_p95_ms=quantile(times, 0.95),
            step_time_p99_ms=quantile(times, 0.99),
            step_time_std_ms=math.sqrt(spread / (len(times) - 1)) if len(times) > 1 else None,
            step_times_ms=list(step_times_ms),
        )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Type 7 of Hyndman & Fan (1996), as everywhere in gapless. `ordered` is sorted and has a value."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
