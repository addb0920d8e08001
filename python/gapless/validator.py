# SPDX-License-Identifier: Apache-2.0
"""Is an optimisation worth keeping: faster, learning the same, and no step back from the history?"""

from __future__ import annotations

import contextlib
import math
import os
import random
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .ab_test import ABTestResult, ABTestValidator
from .alike import are_alike
from .benchmark import PerformanceBenchmark
from .host import GB
from .metrics import PerformanceMetrics, fields_of
from .pairs import PAIRS, Memory, Side, take_pairs
from .parity import LossParity, Recordings
from .progress import LOGGER, OnProgress, say, shown
from .record import Record
from .regression import Regression, RegressionDetector
from .step_timing import check_counts, cuda_device
from .training import Batches, Criterion, Kept, MakeOptimizer, Training, loader_of

MEMORY_STEPS = 2


@dataclass
class ValidationResult(Record):
    """The outcome of a validation; its fields are also keys. No `pairs`: nothing differs, and nothing was run.

    `accepted` is True if the optimised model is faster, is the same training, and is no regression, nor looks like one. `loss` is None where there is no loss
    to compare, which does not count against it. `recorded`: the optimised model's metrics are in the history. `report` has all of it in words.
    The rest is as in `ABTestResult`.
    """

    accepted: bool
    speedup: float
    speedup_confidence_interval: tuple[float | None, float | None]
    p_value: float
    statistically_significant: bool
    verdict: str
    memory_saved_gb: float | None
    baseline_metrics: PerformanceMetrics
    optimized_metrics: PerformanceMetrics
    loss: LossParity | None
    regression: Regression
    pairs: int
    recorded: bool
    report: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {**fields_of(self), "report": self.report}


class PerformanceValidator:
    """Baseline, optimised, both in turns, the history, a report.

    >>> validator = PerformanceValidator(metrics_db_path="./metrics.db")  # doctest: +SKIP
    >>> results = validator.validate_optimization(baseline, optimized, loader, "4f2a91c")  # doctest: +SKIP
    >>> f"{results['speedup']:.2f}× {results['memory_saved_gb']:.2f} GB"  # doctest: +SKIP
    '2.10× 4.20 GB'
    """

    def __init__(self, metrics_db_path: str | os.PathLike[str]) -> None:
        """The history, as `RegressionDetector` takes it."""
        self.benchmark = PerformanceBenchmark()
        self.ab_test = ABTestValidator()
        self.regression_detector = self.detector = RegressionDetector(metrics_db_path)

    def validate_optimization(
        self,
        baseline_model: Any,
        optimized_model: Any,
        data_loader: Iterable[Any],
        commit_sha: str,
        *,
        branch: str | None = None,
        baseline_branch: str = "main",
        regression_threshold: float = 0.05,
        label: str | None = None,
        pairs: int = PAIRS,
        warmup_steps: int = 10,
        make_optimizer: MakeOptimizer | None = None,
        criterion: Criterion | None = None,
        seed: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> ValidationResult:
        """Measures both models in turns, compares their losses, judges the optimised one against the history and records it.

        Steps are those of `PerformanceBenchmark.benchmark_training`. The losses are those of `warmup_steps` steps from the state the models are
        in. With `make_optimizer(parameters)` they are steps of real training; without it the weights stay, and equal losses say that
        both compute the same, not that both would learn the same. The models are put back afterwards.

        Where `optimized_model` is the result of an `AutoOptimizer` that found another loader in place of `data_loader`, each model has its
        own, and loading is part of a step.

        Where nothing differs (the same modules, numbers and loader) there is nothing to measure: the answer comes at once, with a speedup of
        1, no pairs, and nothing recorded. `on_progress` is called with a sentence for each part; the logger `gapless` has them at INFO.

        The optimised model's metrics are recorded as of `commit_sha` and `branch` (otherwise git's, when that commit is checked out), with the
        verdict of the gate against `baseline_branch`.
        """
        check_counts(pairs, warmup_steps)
        if make_optimizer is not None and _share_weights(baseline_model, optimized_model):
            raise ValueError("the models share weights, so that each would train the other: give one of them a copy")
        optimized_loader = loader_of(optimized_model, data_loader)
        if optimized_loader is data_loader and are_alike(baseline_model, optimized_model):
            return _nothing_differs(regression_threshold)
        seed = secrets.randbits(32) if seed is None else seed
        batches = Batches(data_loader)
        with shown(on_progress), Kept(baseline_model), Kept(optimized_model):
            models = [TrainedModel(model, make_optimizer, criterion) for model in (baseline_model, optimized_model)]
            say(f"the training of both: {warmup_steps} steps each, as often as the comparison needs")
            loss = warm_up(models, [next(batches) for _ in range(warmup_steps)], seed)
            sides = [model.side for model in models]
            measure_host_memory(models, batches)
            if optimized_loader is not data_loader:
                sides[0].loads, sides[1].loads = Batches(data_loader), Batches(optimized_loader)
            ratios = take_pairs(sides[0], sides[1], batches, pairs, random.Random(seed))
        found = ABTestResult.of(sides[0], sides[1], ratios, seed)
        regression = self.detector.judge_and_record(
            commit_sha,
            branch,
            found.optimized_metrics,
            _facts(models[1].side, label),
            baseline_branch=baseline_branch,
            regression_threshold=regression_threshold,
        )
        return _joined(found, loss, regression)


class TrainedModel:
    """A model, its training as it begins, and its side of the pairs."""

    def __init__(self, model: Any, make_optimizer: MakeOptimizer | None, criterion: Criterion | None) -> None:
        self.model = model
        self.make_optimizer = make_optimizer
        self.criterion = criterion
        self.begin()
        self.side = Side(lambda batch: self.training.step(batch), self.training.device)

    def begin(self) -> None:
        optimizer = None if self.make_optimizer is None else self.make_optimizer(self.model.parameters())
        self.training = Training(self.model, optimizer, self.criterion)

    def losses(self, batches: list[Any], seed: int) -> list[float]:
        """Trains over the batches and restores the model afterwards."""
        memory = Memory(self.training.device)
        with Kept(self.model), _seeded(seed, self.training.device):
            self.begin()
            memory.start(_own_bytes(self.model, self.training.device))
            losses = [self.training.step(batch) for batch in batches]
            if cuda_device(self.training.device) is not None:
                self.side.memory_gb = memory.peak_gb()
            found = [float(loss) for loss in losses]
        has_loss = self.training.has_loss
        self.begin()
        self.training.has_loss = has_loss
        return found


def measure_host_memory(models: list[TrainedModel], batches: Iterator[Any]) -> None:
    """Measures the memory of steps of models on a CPU, after their warm-up and without a recorder, in turns; the smaller peak counts."""
    batch = next(batches)
    for model in models:
        own_gb = sum(_own_bytes(one.model, model.training.device) for one in models) / GB
        model.side.floor_gb = max(0.0, Memory(model.training.device).held_gb() - own_gb)
    for model in (*models, *models):
        if cuda_device(model.training.device) is not None:
            continue
        memory = Memory(None)
        memory.start(_own_bytes(model.model, model.training.device))
        for _ in range(MEMORY_STEPS):
            model.training.step(batch)
        peak = memory.peak_gb()
        if peak is not None:
            model.side.memory_gb = peak if model.side.memory_gb is None else min(peak, model.side.memory_gb)


def warm_up(models: list[TrainedModel], batches: list[Any], seed: int) -> LossParity | None:
    """The baseline twice and the optimised model, each from its beginning: the warm-up of both, and whether they train the same."""
    if not batches:
        return None
    baseline, optimized = models
    recordings = Recordings(lambda: baseline.losses(batches, seed))
    try:
        first = recordings.record("baseline", "baseline", recordings.train_baseline, steps=len(batches))
        others = recordings.record("candidate", "candidate", lambda: optimized.losses(batches, seed))
        training = recordings.decide()
    finally:
        recordings.close()
    if not (baseline.training.has_loss and optimized.training.has_loss):
        return None
    parity = None if training.verdict == "cannot_tell" else training.same
    return LossParity(parity, _differ(first, others), len(batches), training)


def _nothing_differs(threshold: float) -> ValidationResult:
    """The answer about a model and itself."""
    recommendation = "nothing was measured, and nothing recorded"
    LOGGER.warning(
        "nothing differs: the optimised model is the baseline, and the loader is the same; %s", recommendation
    )
    answer = {
        "regression_detected": False, "verdict": "cannot_tell", "threshold": threshold, "recommendation": recommendation,
    }  # fmt: skip
    return ValidationResult(
        accepted=False,
        speedup=1.0,
        speedup_confidence_interval=(None, None),
        p_value=1.0,
        statistically_significant=False,
        verdict="equivalent",
        memory_saved_gb=0.0,
        baseline_metrics=PerformanceMetrics(),
        optimized_metrics=PerformanceMetrics(),
        loss=None,
        regression=Regression.of(answer),
        pairs=0,
        recorded=False,
        report=f"Nothing differs: the optimised model is the baseline, and the loader is the same; {recommendation}.\nNot accepted.\n",
    )


def _differ(a: list[float], b: list[float]) -> float:
    most = 0.0
    for x, y in zip(a, b):
        if math.isfinite(x) and math.isfinite(y):
            most = max(most, abs(x - y))
        elif repr(x) != repr(y):
            return math.inf
    return most


@contextlib.contextmanager
def _seeded(seed: int, device: Any) -> Iterator[None]:
    """PyTorch's random numbers begin with the seed inside, and go on as before afterwards."""
    import torch

    gpus = [device] if device is not None and device.type == "cuda" else []
    with torch.random.fork_rng(gpus):
        torch.manual_seed(seed)
        yield


def _own_bytes(model: Any, device: Any) -> int:
    tensors = {id(tensor): tensor for kind in ("parameters", "buffers") for tensor in getattr(model, kind, list)()}
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values() if tensor.device == device)


def _share_weights(a: Any, b: Any) -> bool:
    places = [
        {parameter.data_ptr() for parameter in getattr(model, "parameters", list)() if parameter.numel()}
        for model in (a, b)
    ]
    return bool(places[0] & places[1])


def _facts(side: Side, label: str | None) -> dict[str, Any]:
    import torch

    facts: dict[str, Any] = {"framework": f"torch {torch.__version__}"}
    if side.samples is not None and side.samples % len(side.times_ms) == 0:
        facts["batch_size"] = side.samples // len(side.times_ms)
    if side.device is not None and side.device.type == "cuda":
        facts.update(gpu_type=torch.cuda.get_device_name(side.device), num_gpus=1)
    if label is not None:
        facts["label"] = label
    return facts


def _joined(found: ABTestResult, loss: LossParity | None, regression: Regression) -> ValidationResult:
    result = ValidationResult(
        accepted=found.verdict == "faster"
        and (loss is None or loss.parity is True)
        and not (regression.regression_detected or regression.alarm_pending),
        speedup=found.speedup,
        speedup_confidence_interval=found.speedup_confidence_interval,
        p_value=found.p_value,
        statistically_significant=found.statistically_significant,
        verdict=found.verdict,
        memory_saved_gb=found.memory_saved_gb,
        baseline_metrics=found.baseline_metrics,
        optimized_metrics=found.optimized_metrics,
        loss=loss,
        regression=regression,
        pairs=found.pairs,
        recorded=True,
    )
    result.report = _report(result)
    return result


VERDICTS = {
    "faster": "The optimised model is faster.",
    "slower": "The optimised model is slower.",
    "equivalent": "Both models are as fast.",
    "cannot_tell": "The runs do not show which model is faster.",
}


def _rate(metrics: PerformanceMetrics) -> str:
    """The throughput of the median step, which the speedup is of, too: a mean over few steps hangs on the slowest one."""
    if metrics.samples_per_second is None or not metrics.step_time_ms or not metrics.step_time_p50_ms:
        return ""
    return f", {metrics.samples_per_second * metrics.step_time_ms / metrics.step_time_p50_ms:.1f} samples a second"


def _report(result: ValidationResult) -> str:
    low, high = (f"{end:.3f}" if end is not None else "not bounded" for end in result.speedup_confidence_interval)
    lines = [
        VERDICTS.get(result.verdict, result.verdict),
        f"  speedup {result.speedup:.3f} (95 % interval {low} to {high}), p {result.p_value:.2g}, {result.pairs} pairs",
    ]
    for name, metrics in (("baseline: ", result.baseline_metrics), ("optimised:", result.optimized_metrics)):
        lines.append(f"  {name} median step {metrics.step_time_p50_ms:.3f} ms{_rate(metrics)}")
    if result.memory_saved_gb is not None:
        lines.append(f"  memory saved: {result.memory_saved_gb:.3f} GB")
    if result.loss is None:
        lines.append("Training: there are no losses to compare.")
    else:
        details = f"losses differ by {result.loss.max_difference:.3g} at most over {result.loss.steps} steps"
        lines.append(f"Training: {result.loss.training.reason} ({details}).")
    lines.append(f"History: {result.regression.verdict.replace('_', ' ')}; {result.regression.recommendation}.")
    lines.append("Accepted." if result.accepted else "Not accepted.")
    return "\n".join(lines) + "\n"
