# SPDX-License-Identifier: Apache-2.0
"""Bottlenecks to changes that are proven: each is tried on a copy of the model, in turns with the model as it was, and kept only when it is
faster and the losses agree.

This works on a model and a loader within one process. `gapless optimize -- COMMAND` does more: whole commands, unedited, with every fix.
"""

from __future__ import annotations

import copy
import functools
import random
import secrets
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

from .ab_test import ABTestResult
from .benchmark import benchmark_steps
from .bottlenecks import Bottleneck
from .data_loading import DataLoadingOptimizer
from .fusion import KernelFusionOptimizer
from .metrics import fields_of
from .mixed_precision import MixedPrecisionOptimizer
from .pairs import PAIRS, take_pairs
from .training import Batches, Criterion, Kept, MakeOptimizer, Training, device_of
from .validator import TrainedModel, warm_up

ROUNDS, STEPS = 3, 10  # of the measurement of everything together
LOADING = ("workers", "pin", "prefetch_factor")
SETTINGS = ("num_workers", "pin_memory", "prefetch_factor", "persistent_workers")


@dataclass
class OptimizationResult:
    """`estimated_speedup` is measured: a step as it was, loading included, over a step of `model` and `data_loader`; 1.0 where nothing
    was changed. `memory_saved_gb` is None where it is not known (on a CPU). `rejected` says why the others were not kept."""

    optimizations_applied: list[str]
    estimated_speedup: float
    memory_saved_gb: float | None
    new_config: dict[str, Any]
    rejected: dict[str, str]
    model: Any = field(repr=False)
    data_loader: Any = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        return fields_of(self)


@dataclass
class _Change:
    name: str  # as gapless calls the fix
    apply: Callable[[Any], Any]  # a model to the changed model; it may be the same
    config: dict[str, Any]


class AutoOptimizer:
    def optimize(
        self,
        model: Any,
        data_loader: Iterable[Any],
        bottlenecks: Sequence[Bottleneck | Mapping[str, Any]] | None,
        config: Mapping[str, Any] | None = None,
        *,
        make_optimizer: MakeOptimizer | None = None,
        criterion: Criterion | None = None,
        pairs: int = PAIRS,
        warmup_steps: int = 10,
        seed: int | None = None,
    ) -> OptimizationResult:
        """Tries what cures the bottlenecks (everything where they are None): `amp`, `channels_last`, `compile` on the model,
        `workers` and `pin` on a `DataLoader`.

        `config` is the training's configuration, whatever is in it; `new_config` is that with `mixed_precision`, `channels_last`, `compile_mode`,
        `num_workers`, … added for what was kept. The given model and loader are not changed: use those of the result. Steps, losses and
        their parity are as in `PerformanceValidator.validate_optimization`.
        """
        wanted = _wanted(bottlenecks)
        search = _Search(model, Batches(data_loader), make_optimizer, criterion, pairs, warmup_steps, seed)
        for change in _changes(model, wanted):
            search.attempt(change)
        result = OptimizationResult(
            [change.name for change in search.kept],
            1.0,
            search.memory_saved_gb,
            dict(config or {}),
            search.rejected,
            search.best(),
            data_loader,
        )
        for change in search.kept:
            result.new_config.update(change.config)
        if wanted is None or wanted & set(LOADING):
            _load_faster(result)
        if result.optimizations_applied:
            result.estimated_speedup = _measured(model, data_loader, result, make_optimizer, criterion)
        return result


class _Search:
    """Keeps changes one after the other, each on top of those that were kept."""

    def __init__(
        self,
        model: Any,
        batches: Batches,
        make_optimizer: MakeOptimizer | None,
        criterion: Criterion | None,
        pairs: int,
        warmup_steps: int,
        seed: int | None,
    ) -> None:
        self.model, self.batches = model, batches
        self.training = (make_optimizer, criterion)
        self.pairs, self.warmup_steps = pairs, max(1, warmup_steps)
        self.seed = secrets.randbits(32) if seed is None else seed
        self.kept: list[_Change] = []
        self.rejected: dict[str, str] = {}
        self.memory_saved_gb: float | None = None
        self.why_other = ""  # of the change that was compared last

    def best(self) -> Any:
        return self._with(self.kept)

    def attempt(self, change: _Change) -> None:
        try:
            found, parity = self._compare(self.best(), self._with([*self.kept, change]))
        except Exception as error:  # noqa: BLE001 -- whatever a change does to a model, the search goes on
            self.rejected[change.name] = f"{type(error).__name__}: {str(error).strip()[:300]}"
            return
        if found.verdict != "faster":
            low, high = (f"{end:.3f}" if end else "?" for end in found.speedup_confidence_interval)
            said = found.verdict.replace("_", " ")
            self.rejected[change.name] = f"{said}: {found.speedup:.3f}× ({low} to {high})"
        elif not parity:
            self.rejected[change.name] = self.why_other
        else:
            self.kept.append(change)
            if found.memory_saved_gb is not None:
                self.memory_saved_gb = (self.memory_saved_gb or 0.0) + found.memory_saved_gb

    def _with(self, changes: list[_Change]) -> Any:
        """Copies are made of the model as it was: a changed forward does not survive a copy."""
        return functools.reduce(lambda model, change: change.apply(model), changes, copy.deepcopy(self.model))

    def _compare(self, before: Any, after: Any) -> tuple[ABTestResult, bool]:
        models = [TrainedModel(one, *self.training) for one in (before, after)]
        with Kept(before), Kept(after):
            loss = warm_up(models, [next(self.batches) for _ in range(self.warmup_steps)], self.seed)
            sides = [one.side for one in models]
            ratios = take_pairs(sides[0], sides[1], self.batches, self.pairs, random.Random(self.seed))
        self.why_other = "" if loss is None else loss.training.reason
        return ABTestResult.of(sides[0], sides[1], ratios, self.seed), loss is None or loss.parity is not False


def _wanted(bottlenecks: Sequence[Bottleneck | Mapping[str, Any]] | None) -> set[str] | None:
    if bottlenecks is None:
        return None
    found = [one if isinstance(one, Bottleneck) else Bottleneck.of(one) for one in bottlenecks]
    return {fix.partition("=")[0] for one in found for fix in one.fixes()}


def _changes(model: Any, wanted: set[str] | None) -> list[_Change]:
    """Those that are wanted and apply to the model. Compiling comes last: it takes the model as it finds it."""
    import torch

    mixed = MixedPrecisionOptimizer()
    device = device_of(model)
    images = any(isinstance(one, torch.nn.Conv2d) for one in model.modules())
    found = [
        _Change("amp", mixed.autocast_forward, {"mixed_precision": str(mixed.dtype_on(device)).replace("torch.", "")}),
        *([_Change("channels_last", _channels_last, {"channels_last": True})] if images else []),
        _Change("compile", _compiled, {"compile_mode": "default"}),
    ]
    return [change for change in found if wanted is None or change.name in wanted]


def _channels_last(model: Any) -> Any:
    import torch

    return model.to(memory_format=torch.channels_last)


def _compiled(model: Any) -> Any:
    return KernelFusionOptimizer().apply_torch_compile(model, mode="default")


def _load_faster(result: OptimizationResult) -> None:
    from torch.utils.data import DataLoader, IterableDataset

    loader = result.data_loader
    if not isinstance(loader, DataLoader) or loader.batch_size is None or isinstance(loader.dataset, IterableDataset):
        result.rejected["workers"] = "the loader is no DataLoader of a dataset with an index"
        return
    current = {name: getattr(loader, name) for name in (*SETTINGS, "collate_fn", "worker_init_fn")}
    try:
        found = DataLoadingOptimizer().optimize_dataloader(loader.dataset, loader.batch_size, current)
    except Exception as error:  # noqa: BLE001 -- the dataset's own, in a worker
        result.rejected["workers"] = f"{type(error).__name__}: {str(error).strip()[:300]}"
        return
    if found["num_workers"] == loader.num_workers and found["pin_memory"] == loader.pin_memory:
        result.rejected["workers"] = "no other number of workers loads faster"
        return
    chosen = {name: found[name] for name in SETTINGS}
    name = f"workers={found['num_workers']}" if found["num_workers"] != loader.num_workers else "pin"
    given = {key: value for key, value in chosen.items() if value is not None}
    result.data_loader = DataLoader(
        loader.dataset,
        batch_size=loader.batch_size,
        sampler=loader.sampler,
        drop_last=loader.drop_last,
        collate_fn=loader.collate_fn,
        worker_init_fn=loader.worker_init_fn,
        generator=loader.generator,
        **given,
    )
    result.optimizations_applied.append(name)
    result.new_config.update(chosen)


def _measured(
    model: Any,
    loader: Iterable[Any],
    result: OptimizationResult,
    make_optimizer: MakeOptimizer | None,
    criterion: Criterion | None,
) -> float:
    """Whole steps with their loading, in turns; the median of the ratios."""
    sides = [(model, loader), (result.model, result.data_loader)]
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
