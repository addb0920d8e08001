# SPDX-License-Identifier: Apache-2.0
"""Bottlenecks to changes that are proven: each is tried on a copy of the model, in turns with the model as it was, and kept only when it is
faster and the losses agree.

This works on a model and a loader within one process. `gapless optimize -- COMMAND` does more: whole commands, unedited, with every fix.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .checkpointing import GradientCheckpointingOptimizer
from .data_loading import DataLoadingOptimizer
from .decisions import Decision, decide
from .fusion import KernelFusionOptimizer
from .memory import MemoryOptimizer
from .metrics import fields_of
from .mixed_precision import MixedPrecisionOptimizer
from .pairs import PAIRS
from .progress import OnProgress, say, shown
from .record import Record, hidden
from .search import Change, Search
from .step_timing import benchmark_steps
from .training import (
    Batches,
    Criterion,
    Kept,
    MakeOptimizer,
    Training,
    device_of,
    inputs_and_target,
    remember_loader,
    samples_of,
)

ROUNDS, STEPS = 3, 10  # of the measurement of everything together
SETTINGS = ("num_workers", "pin_memory", "prefetch_factor", "persistent_workers")
MAX_BATCH, MAX_BATCH_FACTOR = 512, 4  # largest batch that is tried; on a CPU not more than this times the present one
ACCUMULATED = 2  # micro-batches, where gradients are to be accumulated
OTHER_TRAINING = "is another training: pass allow_training_changes=True, or set it yourself"
DDP = "takes effect where the model is wrapped: DistributedDataParallel(model, gradient_as_bucket_view=True), set in new_config; not measured"

ModelAndLoader = tuple[Any, Iterable[Any]]
TrainedBy = tuple[Optional[MakeOptimizer], Optional[Criterion]]


@dataclass
class OptimizationResult(Record):
    """The outcome of an optimisation; its keys are the first five.

    `estimated_speedup` is measured: time of a step as it was, loading included, over that of a step of `model` and `data_loader`; 1.0
    where nothing was changed. `memory_saved_gb` is the difference of peaks (of resident memory on a CPU), 0.0 where nothing was changed.
    `rejected` has the reason for each change that was not kept. `fixes` are the names of the kept ones in `gapless optimize`.
    """

    optimizations_applied: list[str]
    estimated_speedup: float
    memory_saved_gb: float
    new_config: dict[str, Any]
    rejected: dict[str, str]
    fixes: list[str]
    model: Any = hidden()
    data_loader: Any = hidden()

    def to_dict(self) -> dict[str, Any]:
        return fields_of(self)


class AutoOptimizer:
    """Optimisations that fit the bottlenecks, each kept only if it is measured to be faster and the same training.

    >>> found = AutoOptimizer().optimize(model, loader, bottlenecks, config={"batch_size": 32})  # doctest: +SKIP
    >>> found["optimizations_applied"], found["estimated_speedup"], found["new_config"]  # doctest: +SKIP
    (['mixed_precision', 'torch_compile'], 2.3, {'batch_size': 32, 'mixed_precision': 'bfloat16', 'compile_mode': 'default'})
    """

    def __init__(self) -> None:
        self.mixed_precision = MixedPrecisionOptimizer()
        self.gradient_checkpointing = GradientCheckpointingOptimizer()
        self.data_loading = DataLoadingOptimizer()
        self.kernel_fusion = KernelFusionOptimizer()
        self.memory = MemoryOptimizer()

    def optimize(
        self,
        model: Any,
        data_loader: Iterable[Any],
        bottlenecks: Sequence[Any] | None,
        config: Mapping[str, Any] | None = None,
        *,
        make_optimizer: MakeOptimizer | None = None,
        criterion: Criterion | None = None,
        pairs: int = PAIRS,
        warmup_steps: int = 10,
        seed: int | None = None,
        allow_training_changes: bool = False,
        on_progress: OnProgress | None = None,
    ) -> OptimizationResult:
        """Tries what cures the bottlenecks (also plain dictionaries; None: whatever may be faster).

        KERNEL_EFFICIENCY: mixed_precision, channels_last, torch_compile. LAUNCH_BOUND, HOST_BOUND: torch_compile. DATA_LOADING, IO:
        data_loading. MEMORY_BANDWIDTH, MEMORY_ALLOCATION: gradient_checkpointing and batch_size. SMALL_BATCH: batch_size. MULTI_GPU_COMM:
        gradient_accumulation and gradient_as_bucket_view. Others have their reason in `rejected`.

        batch_size and gradient_accumulation change the training: they go into `new_config` only with `allow_training_changes`, and are
        not in `estimated_speedup`. `config` is the training's configuration, whatever is in it; `new_config` is that with what was
        kept. The given model and loader are not changed: use those of the result. Steps, losses and their parity are as in
        `PerformanceValidator.validate_optimization`, and `on_progress` is what it is there.
        """
        with shown(on_progress):
            return self._optimize(
                model, data_loader, bottlenecks, config, (make_optimizer, criterion), (pairs, warmup_steps, seed), allow_training_changes
            )  # fmt: skip

    def _optimize(
        self,
        model: Any,
        data_loader: Iterable[Any],
        bottlenecks: Sequence[Any] | None,
        config: Mapping[str, Any] | None,
        training: TrainedBy,
        how: tuple[int, int, int | None],  # pairs, steps of warm-up, seed
        allow_training_changes: bool,
    ) -> OptimizationResult:
        decision = decide(bottlenecks)
        search = Search(model, Batches(data_loader), training, *how)
        for change in self._changes(model, decision):
            search.attempt(change)
        new_config = dict(config or {})
        for change in search.kept:
            new_config.update(change.config)
        result = OptimizationResult(
            optimizations_applied=[change.name for change in search.kept],
            estimated_speedup=1.0,
            memory_saved_gb=search.memory_saved_gb,
            new_config=new_config,
            rejected={**decision.reasons, **search.rejected},
            fixes=[change.fix for change in search.kept],
            model=search.best(),
            data_loader=data_loader,
        )
        if decision.wants("data_loading"):
            _load_faster(result, self.data_loading, training)
        if search.kept:
            say("everything together, in turns with the training as it was")
            whole = (model, data_loader), (result.model, result.data_loader)
            result.estimated_speedup = _measured(*whole, training)
        if result.data_loader is not data_loader:
            remember_loader(result.model, data_loader, result.data_loader)
        self._configure(result, decision, data_loader, allow_training_changes)
        return result

    def _changes(self, model: Any, decision: Decision) -> list[Change]:
        """Returns the wanted changes that apply to the model. Compiling comes last: it takes the model as it finds it."""
        import torch

        images = any(isinstance(layer, torch.nn.Conv2d) for layer in model.modules())
        dtype = str(self.mixed_precision.dtype_on(device_of(model))).replace("torch.", "")
        short = decision.memory_is_short
        found = [
            Change("gradient_checkpointing", "checkpoint", self._checkpointed, {"gradient_checkpointing": True}, short),
            Change("mixed_precision", "amp", self.mixed_precision.autocast_forward, {"mixed_precision": dtype}),
            *([Change("channels_last", "channels_last", _channels_last, {"channels_last": True})] if images else []),
            Change("torch_compile", "compile", self._compiled, {"compile_mode": "default"}),
        ]
        return [change for change in found if decision.wants(change.name)]

    def _checkpointed(self, model: Any) -> Any:
        return self.gradient_checkpointing.apply_checkpointing(model)

    def _compiled(self, model: Any) -> Any:
        return self.kernel_fusion.apply_torch_compile(model, mode="default")

    def _configure(self, result: OptimizationResult, decision: Decision, loader: Iterable[Any], allowed: bool) -> None:
        """Adds what a configuration can have and a model cannot."""
        if decision.wants("gradient_as_bucket_view"):
            result.new_config["gradient_as_bucket_view"] = True
            result.rejected["gradient_as_bucket_view"] = DDP
        if decision.wants("gradient_accumulation"):
            if allowed:
                result.new_config["gradient_accumulation_steps"] = ACCUMULATED
                result.optimizations_applied.append("gradient_accumulation")
                result.fixes.append(f"accumulate={ACCUMULATED}")
            else:
                result.rejected["gradient_accumulation"] = f"{ACCUMULATED} batches a step {OTHER_TRAINING}"
        if decision.wants("batch_size"):
            self._largest_batch(result, loader, allowed)

    def _largest_batch(self, result: OptimizationResult, loader: Iterable[Any], allowed: bool) -> None:
        batch = next(iter(Batches(loader)))
        inputs, _ = inputs_and_target(batch)
        present = samples_of(batch)
        device = device_of(result.model)
        if present is None or present < 1:
            result.rejected["batch_size"] = "the batches have no tensor whose rows could be counted"
            return
        limit = (
            MAX_BATCH if device is not None and device.type == "cuda" else min(MAX_BATCH, MAX_BATCH_FACTOR * present)
        )
        try:
            most = self.memory.find_optimal_batch_size(
                result.model, batch if inputs is None or isinstance(batch, Mapping) else inputs, max(present, limit)
            )
        except Exception as error:  # noqa: BLE001 -- the model's own, on a batch of another size
            result.rejected["batch_size"] = f"{type(error).__name__}: {str(error).strip()[:300]}"
            return
        result.new_config["max_batch_size"] = most
        if most <= present:
            result.rejected["batch_size"] = (
                f"no batch larger than the present one of {present} fits in memory with 10 % left"
            )
        elif allowed:
            result.new_config["batch_size"] = most
            result.optimizations_applied.append("batch_size")
            result.fixes.append(f"batch={most // present}")
        else:
            tried = "at least " if most == limit else ""
            result.rejected["batch_size"] = (
                f"{tried}{most} rows fit in memory with 10 % left, but another batch size {OTHER_TRAINING}"
            )


def _channels_last(model: Any) -> Any:
    import torch

    return model.to(memory_format=torch.channels_last)


def _load_faster(result: OptimizationResult, optimizer: DataLoadingOptimizer, training: TrainedBy) -> None:
    """Takes the settings that load fastest, if whole steps are faster with them; sets `estimated_speedup` to that speedup."""
    from torch.utils.data import DataLoader, IterableDataset

    loader = result.data_loader
    if not isinstance(loader, DataLoader) or loader.batch_size is None or isinstance(loader.dataset, IterableDataset):
        result.rejected["data_loading"] = "the loader is no DataLoader of a dataset with an index"
        return
    current = {name: getattr(loader, name) for name in (*SETTINGS, "collate_fn", "worker_init_fn")}
    try:
        found = optimizer.optimize_dataloader(loader.dataset, loader.batch_size, current)
    except Exception as error:  # noqa: BLE001 -- the dataset's own, in a worker
        result.rejected["data_loading"] = f"{type(error).__name__}: {str(error).strip()[:300]}"
        return
    if found["num_workers"] == loader.num_workers and found["pin_memory"] == loader.pin_memory:
        result.rejected["data_loading"] = "no other number of workers loads faster"
        return
    chosen = {name: found[name] for name in SETTINGS}
    name = f"workers={found['num_workers']}" if found["num_workers"] != loader.num_workers else "pin"
    given = {key: value for key, value in chosen.items() if value is not None}
    faster = DataLoader(
        loader.dataset,
        batch_size=loader.batch_size,
        sampler=loader.sampler,
        drop_last=loader.drop_last,
        collate_fn=loader.collate_fn,
        worker_init_fn=loader.worker_init_fn,
        generator=loader.generator,
        **given,
    )
    speedup = _measured((result.model, loader), (result.model, faster), training)
    if speedup <= 1:
        text = f"loading alone is {found['estimated_speedup']:.2f}× as fast with {name}, whole steps {speedup:.2f}×"
        result.rejected["data_loading"] = text
        return
    result.data_loader, result.estimated_speedup = faster, speedup
    result.optimizations_applied.append("data_loading")
    result.fixes.append(name)
    result.new_config.update(chosen)


def _measured(before: ModelAndLoader, after: ModelAndLoader, training: TrainedBy) -> float:
    """Returns the speedup of whole steps with their loading, measured in turns: the median of the ratios."""
    make_optimizer, criterion = training
    sides = (before, after)
    ratios = []
    for number in range(ROUNDS):
        times: dict[int, float] = {}
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            trained, source = sides[which]
            with Kept(trained):
                optimizer = None if make_optimizer is None else make_optimizer(trained.parameters())
                metrics = benchmark_steps(Training(trained, optimizer, criterion), source, STEPS, 2)
            times[which] = metrics.step_time_ms or 0.0
        ratios.append(times[0] / times[1])
    return statistics.median(ratios)
