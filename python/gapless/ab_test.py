# SPDX-License-Identifier: Apache-2.0
"""Is one configuration faster than the other?"""

from __future__ import annotations

import contextlib
import math
import random
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Callable

from .metrics import PerformanceMetrics, fields_of
from .pairs import LEAST_PAIRS, PAIRS, Memory, Side, judge_pairs, take_pairs
from .progress import OnProgress, say, shown
from .record import Record, hidden
from .step_timing import check_counts
from .training import Batches, Criterion, Kept, MakeOptimizer, Training


@dataclass
class ABTestResult(Record):
    """`speedup` above 1: the optimised configuration is faster. The ends of its 95 % interval are None while they are not bounded.

    `p_value` and interval hold at whatever number of pairs one stops. `verdict` is `faster`, `slower`, `equivalent` (the difference is
    below 1 %) or `cannot_tell`. `mde_share` is the smallest change that this number of pairs could have shown. `memory_saved_gb` is of the GPU, on a CPU
    of the resident memory of this process (in 1e9 bytes).

    >>> found = ABTestValidator().compare_configurations({}, {"compile": True}, make_model, loader)  # doctest: +SKIP
    >>> found["speedup"], found["speedup_confidence_interval"], found["statistically_significant"]  # doctest: +SKIP
    (2.1, (1.9, 2.3), True)
    """

    speedup: float
    speedup_confidence_interval: tuple[float | None, float | None]
    p_value: float
    statistically_significant: bool
    verdict: str
    baseline_metrics: PerformanceMetrics
    optimized_metrics: PerformanceMetrics
    memory_saved_gb: float | None
    mde_share: float | None
    pairs: int
    seed: int  # of the coin
    log_ratios: list[float] = hidden()

    def to_dict(self) -> dict[str, Any]:
        return {**fields_of(self), "log_ratios": list(self.log_ratios)}

    @classmethod
    def of(cls, baseline: Side, optimized: Side, ratios: list[float], seed: int) -> ABTestResult:
        said = judge_pairs(ratios)
        saved = None
        if baseline.memory_gb is not None and optimized.memory_gb is not None:
            saved = baseline.memory_gb - optimized.memory_gb
        return cls(
            speedup=said.speedup,
            speedup_confidence_interval=(said.low, said.high),
            p_value=said.p_value,
            statistically_significant=said.statistically_significant,
            verdict=said.verdict,
            baseline_metrics=baseline.metrics(),
            optimized_metrics=optimized.metrics(),
            memory_saved_gb=saved,
            mde_share=said.mde_share,
            pairs=len(ratios),
            seed=seed,
            log_ratios=ratios,
        )


class ABTestValidator:
    """Two configurations in turns in this process; `gapless compare` does it with fresh processes, and shows more."""

    def compare_configurations(
        self,
        baseline_config: Any,
        optimized_config: Any,
        model_fn: Callable[[Any], Any],
        data_loader: Iterable[Any],
        num_runs: int = 3,
        *,
        pairs: int = PAIRS,
        warmup_steps: int = 10,
        make_optimizer: MakeOptimizer | None = None,
        criterion: Criterion | None = None,
        seed: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> ABTestResult:
        """Makes both configurations `num_runs` times, in random order, and takes `pairs` pairs of blocks of them in all.

        `model_fn(config)` gives one of these:

        - a model: its step is that of `PerformanceBenchmark.benchmark_training`, with `criterion` and the optimiser that
          `make_optimizer(parameters)` makes, else SGD with a learning rate of 0;
        - an object with a method `train_step(batch)`: that is the step, with everything that belongs to it;
        - a function of a batch: the step itself.

        A step of the latter two gets the batch as the loader gave it. Both configurations see the same batches, which are loaded outside
        of what is timed. Both are in memory at once; the memory of each is what it took above what was there before it was made, and what
        was there before both. `on_progress` is called with a sentence for each part (`gapless.progress`).
        """
        check_counts(pairs, warmup_steps)
        check_counts(num_runs, 0)
        seed = secrets.randbits(32) if seed is None else seed
        coin = random.Random(seed)
        batches = Batches(data_loader)
        configs = (baseline_config, optimized_config)
        totals = [Side(step=_nothing), Side(step=_nothing)]
        ratios: list[float] = []
        for run in range(num_runs):
            sides: dict[int, Side] = {}
            with contextlib.ExitStack() as stack:
                stack.enter_context(shown(on_progress))
                say(f"run {run + 1} of {num_runs}: making both, {warmup_steps} steps of warm-up each")
                floor_gb = Memory(_current_cuda()).held_gb()
                for which in coin.sample((0, 1), 2):
                    made = _Made(model_fn, configs[which], make_optimizer, criterion, stack)
                    sides[which] = made.warmed_up(batches, warmup_steps)
                    sides[which].floor_gb = floor_gb
                per_run = max(LEAST_PAIRS, math.ceil(pairs / num_runs))
                ratios += take_pairs(sides[0], sides[1], batches, per_run, coin)
            for total, which in zip(totals, (0, 1)):
                total.join(sides[which])
        return ABTestResult.of(totals[0], totals[1], ratios, seed)


class _Made:
    """A model made by `model_fn`, ready to take steps."""

    def __init__(
        self,
        model_fn: Callable[[Any], Any],
        config: Any,
        make_optimizer: MakeOptimizer | None,
        criterion: Criterion | None,
        stack: contextlib.ExitStack,
    ) -> None:
        self.memory = Memory(_current_cuda())
        self.memory.start()
        made = model_fn(config)
        device = None
        if callable(getattr(made, "train_step", None)):
            step = made.train_step
        elif callable(made) and hasattr(made, "parameters"):
            stack.enter_context(Kept(made))
            optimizer = None if make_optimizer is None else make_optimizer(made.parameters())
            training = Training(made, optimizer, criterion)
            step, device = training.step, training.device
        elif callable(made):
            step = made
        else:
            raise TypeError(
                f"model_fn must give a model, an object with train_step(batch), or a function, not {made!r}"
            )
        self.side = Side(step, device or self.memory.device)

    def warmed_up(self, batches: Batches, steps: int) -> Side:
        for _ in range(steps):
            self.side.step(next(batches))
        self.side.memory_gb = self.memory.peak_gb() if steps else None
        return self.side


def _nothing(_: Any) -> None:
    raise AssertionError("a sum of runs takes no step")


def _current_cuda() -> Any:
    """Returns the CUDA device in use, or None without one."""
    try:
        import torch
    except ImportError:  # steps may be of anything
        return None
    return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else None
