# SPDX-License-Identifier: Apache-2.0
"""Two ways to train, measured in turns in one process.

A pair is a short block of steps of each, over the same batches, in random order; what counts is the logarithm of the ratio of
their median step times. The verdict comes from the program (`gapless compare --ratios`), which may look at any number of pairs.

What this shows: that these two objects, in this process, differ. Memory lies as it lies for all blocks of a model, and the order in which
two models were made may matter; more blocks do not average that out, new models (`num_runs`) do in part, new processes do.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Callable

from .host import GB, SOURCE, cores, forget_peak, give_back, own_seconds, peak_resident_gb, resident_gb
from .metrics import PerformanceMetrics, quantile
from .program import as_file, ask
from .progress import say
from .step_timing import StepClock, cuda_device, measure_steps

PAIRS = 24  # at least, in all; some 11 show a change of 5 % at a variation of 2 % (docs/STATISTICS.md)
LEAST_PAIRS = 4  # of one run
BLOCK_STEPS = 5
LEAST_MS = 1e-6


@dataclass
class Side:
    """One of the two, over all its runs."""

    step: Callable[[Any], Any]
    device: Any = None
    times_ms: list[float] = field(default_factory=list)
    samples: int | None = 0
    memory_gb: float | None = None  # its own, and what its steps take
    floor_gb: float = 0.0  # what the process holds beside both sides: a process of its own would have it, too
    cpu_seconds: float = 0.0  # of this process, in all blocks
    loads: Iterator[Any] | None = None  # a loader of its own, whose time is part of a step

    def _load_and_step(self, _batch: Any) -> Any:
        assert self.loads is not None
        return self.step(next(self.loads))

    def block(self, batches: list[Any]) -> float:
        """Takes a step for each; returns the median of their milliseconds."""
        before = own_seconds()
        step = self.step if self.loads is None else self._load_and_step
        times, samples = measure_steps(step, batches, len(batches), StepClock(self.device))
        self.cpu_seconds += own_seconds() - before
        self.times_ms += times
        self.samples = None if samples is None or self.samples is None else self.samples + samples
        return max(LEAST_MS, quantile(sorted(times), 0.5))

    def warm_up(self, batches: list[Any]) -> None:
        step = self.step if self.loads is None else self._load_and_step
        for batch in batches:
            step(batch)
        if cuda_device(self.device) is not None:
            import torch

            torch.cuda.synchronize(self.device)

    def metrics(self) -> PerformanceMetrics:
        found = PerformanceMetrics.of_steps(self.times_ms, self.samples)
        found.memory_usage_gb = None if self.memory_gb is None else self.floor_gb + self.memory_gb
        found.memory_usage_source = None if self.memory_gb is None else Memory(self.device).source
        total_s = math.fsum(self.times_ms) / 1e3
        if cuda_device(self.device) is None and total_s > 0:
            found.gpu_utilization = min(100.0, self.cpu_seconds / total_s / cores() * 100)
            found.gpu_utilization_source = "cpu"
        return found

    def join(self, other: Side) -> None:
        """Takes in another run of the same. Of memory the smaller counts: what is made at first use belongs to neither side."""
        self.times_ms += other.times_ms
        self.cpu_seconds += other.cpu_seconds
        self.samples = None if self.samples is None or other.samples is None else self.samples + other.samples
        self.floor_gb = max(self.floor_gb, other.floor_gb)
        if other.memory_gb is not None:
            self.memory_gb = other.memory_gb if self.memory_gb is None else min(self.memory_gb, other.memory_gb)


@dataclass
class Memory:
    """The peak of memory in use above what was there before: of PyTorch's allocator on a CUDA device, else of the resident memory of
    this process, from which free memory is returned first. `source` is "allocator" or "host"."""

    device: Any
    before_gb: float | None = None

    @property
    def source(self) -> str:
        return SOURCE if cuda_device(self.device) is None else "allocator"

    def start(self, own_bytes: int = 0) -> None:
        """`own_bytes` are there already and count all the same."""
        if cuda_device(self.device) is not None:
            import torch

            torch.cuda.reset_peak_memory_stats(self.device)
            self.before_gb = (torch.cuda.memory_allocated(self.device) - own_bytes) / GB
        else:
            give_back()
            forget_peak()
            self.before_gb = resident_gb() - own_bytes / GB

    def held_gb(self) -> float:
        """Returns what is in use now."""
        if cuda_device(self.device) is None:
            give_back()
            return resident_gb()
        import torch

        return float(torch.cuda.memory_allocated(self.device)) / GB

    def peak_gb(self) -> float | None:
        if self.before_gb is None:
            return None
        if cuda_device(self.device) is None:
            return max(0.0, peak_resident_gb() - self.before_gb)
        import torch

        return float(torch.cuda.max_memory_allocated(self.device)) / GB - self.before_gb


def take_pairs(a: Side, b: Side, batches: Iterator[Any], pairs: int, coin: random.Random) -> list[float]:
    """The log ratio, time of B over time of A, of each pair. A step of each comes first that does not count: whatever was done before, the
    measurement of memory for one, has left the caches cold for the side that begins."""
    ratios: list[float] = []
    batch = list(itertools.islice(batches, 1))
    for side in (a, b):
        side.warm_up(batch)
    for number in range(pairs):
        so_far = f": {math.exp(-math.fsum(ratios) / len(ratios)):.2f}× as fast so far" if ratios else ""
        say(f"pair {number + 1} of {pairs}{so_far}")
        block = list(itertools.islice(batches, BLOCK_STEPS))
        b_first = coin.random() < 0.5
        times = {id(side): side.block(block) for side in ((b, a) if b_first else (a, b))}
        ratios.append(math.log(times[id(b)] / times[id(a)]))
    return ratios


@dataclass
class PairVerdict:
    """The program's verdict on pairs. `low` and `high` bound the speedup of B over A; None while there is no bound."""

    verdict: str  # faster, slower, equivalent, cannot_tell
    speedup: float
    low: float | None
    high: float | None
    p_value: float
    statistically_significant: bool
    mde_share: float | None


def judge_pairs(ratios: list[float]) -> PairVerdict:
    with as_file(ratios) as path:
        found = ask("compare", "--ratios", path, accept=(0, 1))
    speedup = found["speedup"]
    return PairVerdict(
        found["verdict"],
        speedup["expected"],
        speedup.get("low"),
        speedup.get("high"),
        found["p_value"],
        found["statistically_significant"],
        found.get("mde_share"),
    )
