# SPDX-License-Identifier: Apache-2.0
"""The same training in several processes.

The model and the loader reach the processes as one file in a folder that only this user can read: torch.multiprocessing itself would
move the tensors of the caller's model into shared memory, and all processes would train the same weights.
"""

from __future__ import annotations

import json
import pickle
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .host import cores
from .metrics import PerformanceMetrics
from .step_timing import benchmark_steps
from .training import Criterion, MakeOptimizer, Training

SETTINGS = (
    "batch_size",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
    "persistent_workers",
    "prefetch_factor",
)


def measure_scaling(
    model: Any,
    data_loader: Iterable[Any],
    counts: Sequence[int],
    steps: tuple[int, int],  # measured, and of warm-up
    make_optimizer: MakeOptimizer | None,
    criterion: Criterion | None,
) -> dict[int, PerformanceMetrics]:
    import torch

    gpus = torch.cuda.device_count()
    wanted = _possible(counts, gpus)
    threads = None if gpus else max(1, cores() // max(wanted))
    found: dict[int, PerformanceMetrics] = {}
    with tempfile.TemporaryDirectory(prefix="gapless-scaling-") as folder:
        task = Path(folder) / "task"
        try:
            torch.save((model, _described(data_loader), steps, make_optimizer, criterion, threads), task)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(f"what is to run in processes of its own must be picklable: {error}") from error
        for count in wanted:
            found[count] = _together(folder, count)
    base = found[wanted[0]]
    for count, metrics in found.items():
        metrics.multi_gpu_scaling_efficiency = _efficiency(metrics, count, base, wanted[0])
    return found


def _possible(counts: Sequence[int], gpus: int) -> list[int]:
    most = gpus or cores()
    if any(count < 1 for count in counts):
        raise ValueError("each number of processes must be 1 or more")
    wanted = sorted({count for count in counts if count <= most})
    left_out = sorted(set(counts) - set(wanted))
    if left_out:
        what = "GPU" if gpus else "core"
        few = f"{most} {what}{'' if most == 1 else 's'}"
        warnings.warn(
            f"these numbers of processes are left out, since the machine has {few}: {', '.join(map(str, left_out))}",
            stacklevel=4,
        )
    if not wanted:
        raise ValueError(f"no number of processes that this machine has GPUs or cores for: {list(counts)}")
    return wanted


def _described(loader: Any) -> tuple[str, Any]:
    """A DataLoader as what makes it anew over a part of its dataset; anything else as it is."""
    from torch.utils.data import DataLoader, IterableDataset, RandomSampler

    if not isinstance(loader, DataLoader) or loader.batch_size is None or isinstance(loader.dataset, IterableDataset):
        return "as it is", loader
    settings = {name: getattr(loader, name) for name in SETTINGS}
    if not loader.num_workers:
        del settings["prefetch_factor"], settings["persistent_workers"]
    return "dataset", (loader.dataset, settings, isinstance(loader.sampler, RandomSampler))


def _loader_from(described: tuple[str, Any], rank: int, count: int) -> Any:
    kind, content = described
    if kind == "as it is":
        return content
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    dataset, settings, shuffled = content
    sampler = DistributedSampler(dataset, count, rank, shuffle=shuffled, drop_last=settings["drop_last"])
    return DataLoader(dataset, sampler=sampler, **settings)


def _together(folder: str, count: int) -> PerformanceMetrics:
    import torch.multiprocessing

    processes = torch.multiprocessing.start_processes(
        run_process, (count, folder), nprocs=count, join=False, start_method="spawn"
    )
    try:
        while not processes.join():
            pass
    except BaseException:
        for process in processes.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        raise
    results = [json.loads((Path(folder) / f"{count}-{rank}.json").read_text()) for rank in range(count)]
    return _joined(results)


def run_process(rank: int, count: int, folder: str) -> None:
    """One of the processes; leaves what it measured in the folder."""
    import torch
    import torch.distributed

    on_gpu = torch.cuda.is_available()
    task = torch.load(Path(folder) / "task", map_location="cpu", weights_only=False)
    model, loader, (num_steps, warmup_steps), make_optimizer, criterion, threads = task
    if on_gpu:
        torch.cuda.set_device(rank)
        model = model.to(torch.device("cuda", rank))
    if threads is not None:
        torch.set_num_threads(threads)
    store = f"file://{folder}/store-{count}"
    torch.distributed.init_process_group("nccl" if on_gpu else "gloo", init_method=store, rank=rank, world_size=count)
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if weights:
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank] if on_gpu else None)
    optimizer = make_optimizer(model.parameters()) if make_optimizer is not None else None
    training = Training(model, optimizer, criterion)
    metrics = benchmark_steps(training, _loader_from(loader, rank, count), num_steps, warmup_steps)
    found = {**metrics.to_dict(), "step_times_ms": metrics.step_times_ms}
    (Path(folder) / f"{count}-{rank}.json").write_text(json.dumps(found))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def _joined(results: list[dict[str, Any]]) -> PerformanceMetrics:
    slowest = [max(times) for times in zip(*(result["step_times_ms"] for result in results))]
    metrics = PerformanceMetrics.of_steps(slowest, None)

    def known(name: str) -> list[float]:
        values = [result[name] for result in results]
        return [] if None in values else values

    rates, fills, shares = known("samples_per_second"), known("memory_usage_gb"), known("gpu_utilization")
    metrics.samples_per_second = sum(rates) if rates else None
    metrics.memory_usage_gb = max(fills) if fills else None
    metrics.gpu_utilization = sum(shares) / len(shares) if shares else None
    for name in ("gpu_utilization_source", "memory_usage_source"):
        setattr(metrics, name, results[0].get(name))
    return metrics


def _efficiency(metrics: PerformanceMetrics, count: int, base: PerformanceMetrics, base_count: int) -> float | None:
    if metrics.samples_per_second and base.samples_per_second:
        return metrics.samples_per_second / count / (base.samples_per_second / base_count)
    if metrics.step_time_ms and base.step_time_ms:
        return base.step_time_ms / metrics.step_time_ms
    return None
