# SPDX-License-Identifier: Apache-2.0
"""Measuring training from inside the program: step time, throughput, memory, utilisation, scaling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .metrics import PerformanceMetrics
from .scaling import measure_scaling
from .step_timing import benchmark_steps, check_counts
from .training import Criterion, Kept, MakeOptimizer, Training


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
