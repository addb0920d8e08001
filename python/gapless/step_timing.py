# SPDX-License-Identifier: Apache-2.0
"""Timing the steps of a training inside this process: the clock, the loop, and the metrics of both."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Callable

from .host import GB, SOURCE, forget_peak, peak_resident_gb
from .metrics import PerformanceMetrics
from .training import Batches, Training, samples_of
from .utilization import Utilization


class StepClock:
    """Times of consecutive steps. On CUDA by events on the device, so that steps are not torn apart by waiting for it."""

    def __init__(self, device: Any) -> None:
        self._cuda: Any = None
        if device is not None and device.type == "cuda":
            import torch

            self._cuda = torch.cuda
            self._device = device
        self._marks: list[Any] = []

    def start(self) -> None:
        if self._cuda is not None:
            self._cuda.synchronize(self._device)
        self._marks = [self._mark()]

    def step(self) -> None:
        """A step ended here."""
        self._marks.append(self._mark())

    def stop(self) -> list[float]:
        """Milliseconds of every step since start()."""
        pairs = zip(self._marks, self._marks[1:])
        if self._cuda is None:
            return [(after - before) / 1e6 for before, after in pairs]
        self._marks[-1].synchronize()
        return [before.elapsed_time(after) for before, after in pairs]

    def _mark(self) -> Any:
        if self._cuda is None:
            return time.perf_counter_ns()
        event = self._cuda.Event(enable_timing=True)
        event.record(self._cuda.current_stream(self._device))
        return event


def cuda_device(device: Any) -> Any:
    return device if device is not None and device.type == "cuda" else None


def measure_steps(
    step: Callable[[Any], Any], batches: Iterable[Any], num_steps: int, clock: StepClock
) -> tuple[list[float], int | None]:
    """Takes steps; their milliseconds, waiting for the batch included, and the samples in them where they can be counted."""
    samples: int | None = 0
    source = iter(batches)
    clock.start()
    for _ in range(num_steps):
        batch = next(source)
        step(batch)
        clock.step()
        count = samples_of(batch)
        samples = None if count is None or samples is None else samples + count
    return clock.stop(), samples


def benchmark_steps(
    training: Training, data_loader: Iterable[Any], num_steps: int, warmup_steps: int
) -> PerformanceMetrics:
    """Warm-up, then steps that count."""
    batches = Batches(data_loader)
    for _ in range(warmup_steps):
        training.step(next(batches))
    gpu = cuda_device(training.device)
    if gpu is not None:
        import torch

        torch.cuda.reset_peak_memory_stats(gpu)
    else:
        forget_peak()
    with Utilization(gpu) as utilization:
        times, samples = measure_steps(training.step, batches, num_steps, StepClock(training.device))
    metrics = PerformanceMetrics.of_steps(times, samples)
    metrics.gpu_utilization, metrics.gpu_utilization_source = utilization.percent, utilization.source
    if gpu is not None:
        metrics.memory_usage_gb, metrics.memory_usage_source = torch.cuda.max_memory_allocated(gpu) / GB, "allocator"
    else:
        metrics.memory_usage_gb, metrics.memory_usage_source = peak_resident_gb(), SOURCE
    return metrics


def check_counts(num_steps: int, warmup_steps: int) -> None:
    if num_steps < 1:
        raise ValueError("at least one step must be measured")
    if warmup_steps < 0:
        raise ValueError("the number of warm-up steps must not be negative")
