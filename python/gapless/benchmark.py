# SPDX-License-Identifier: Apache-2.0
"""Measuring training from inside the program: step time, throughput, memory, utilisation, scaling."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Callable

from .host import GB, SOURCE, forget_peak, peak_resident_gb
from .metrics import PerformanceMetrics
from .scaling import measure_scaling
from .training import Batches, Criterion, Kept, MakeOptimizer, Training, samples_of
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


class PerformanceBenchmark:
    """Benchmarks of a model in this process. Whole commands, unchanged, are for `gapless bench`."""

    def benchmark_training(
        self,
        model: Any,
        data_loader: Iterable[Any],
        num_steps: int = 100,
        warmup_steps: int = 10,
        *,
        optimizer: Any = None,
        criterion: Criterion | None = None,
    ) -> PerformanceMetrics:
        """Times training steps: the wait for a batch, forward, loss, backward, an optimiser step, in the mode the model is in.

        Loss and batches are as `gapless.training` has them. Without an optimiser, SGD with a learning rate of 0 steps: the work is done and
        the weights stay. An optimiser that is given learns; afterwards weights, buffers, gradients and its state are put back in any case,
        also when a step fails. A loader that is shorter is begun again. What a step raises is not caught.

        Memory and utilisation are those of a CUDA device (utilisation needs nvidia-smi); on a CPU they are those of this process, and
        their sources say so. The times are those of
        this process: the next one may differ by more than they vary (`gapless compare` takes fresh processes).
        """
        check_counts(num_steps, warmup_steps)
        with Kept(model, optimizer):
            return benchmark_steps(Training(model, optimizer, criterion), data_loader, num_steps, warmup_steps)

    def benchmark_multi_gpu_scaling(
        self,
        model: Any,
        data_loader: Iterable[Any],
        gpu_counts: Sequence[int] = (1, 2, 4, 8),
        *,
        num_steps: int = 100,
        warmup_steps: int = 10,
        make_optimizer: MakeOptimizer | None = None,
        criterion: Criterion | None = None,
    ) -> dict[int, PerformanceMetrics]:
        """Weak scaling: the same training in several processes, with as many samples a step in each; returns their combined throughput.

        Processes are spawned, with DistributedDataParallel over nccl, one a GPU; on a machine without GPUs over gloo, with as many threads
        in each process whatever their number. The model is pickled, so its class must be importable and the calling script guarded
        by `if __name__ == "__main__"`. A DataLoader is made anew in each process over its part of the dataset; another loader is pickled, and
        each process takes all of it. Counts that the machine has not enough GPUs (or cores) for are left out with a warning.

        Throughput is that of all processes, a step as long as the slowest process took, memory that of the fullest device, utilisation the
        mean. Efficiency is throughput per process over that of the smallest count. What fails in a process is raised as
        `torch.multiprocessing.ProcessRaisedException` with its traceback.
        """
        check_counts(num_steps, warmup_steps)
        return measure_scaling(model, data_loader, gpu_counts, (num_steps, warmup_steps), make_optimizer, criterion)


def check_counts(num_steps: int, warmup_steps: int) -> None:
    if num_steps < 1:
        raise ValueError("at least one step must be measured")
    if warmup_steps < 0:
        raise ValueError("the number of warm-up steps must not be negative")
