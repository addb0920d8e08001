# SPDX-License-Identifier: Apache-2.0
"""How much a fix brings: fresh processes with and without it, in turn, on a machine whose other work is watched.

A process takes some steps, says how long each took, and stands for the mean of those after its warm-up: worker processes deliver batches
in bursts, so that most steps wait for nothing and some for long, and the median would not see it. Processes run before, after, after,
before, …: neighbours are a pair, and what drifts hits both. The answer is the median of the ratios of the pairs with its 95 %
interval by bootstrap. A process during which other programs used much of the machine is run again.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_overhead import interval

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 600
OTHERS = 0.15  # processors; other programs that use more disturb
LEAST_PAIRS = 6
WIDTH = 0.03  # a ratio known this well needs no more pairs


@dataclass(frozen=True)
class Pair:
    name: str
    script: str
    case: str
    fix: str
    threads: int = 1  # OMP_NUM_THREADS
    steps: int = 60
    warm_up: int = 10  # steps

    def command(self, fixed: bool, steps: int | None = None) -> list[str]:
        words = [sys.executable, f"examples/pairs/{self.script}.py", self.case, "--steps", str(steps or self.steps)]
        return [*words, "--fix", self.fix] if fixed else words

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS", "PYTHON"))}
        return {**kept, "OMP_NUM_THREADS": str(self.threads)}


@dataclass(frozen=True)
class Measured:
    ratio: float
    low: float
    high: float
    pairs: int
    before_ms: float
    after_ms: float
    others: float  # processors that other programs used, in the mean

    @property
    def is_sharp(self) -> bool:
        return self.high - self.low <= 2 * WIDTH * self.ratio


def _busy_s() -> float:
    """Processor time that anything on this machine has used; time that the host of a virtual machine took counts."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = (int(word) for word in file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_s() -> float:
    """Processor time of the processes that this one has run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _process(pair: Pair, fixed: bool) -> tuple[float, float]:
    """The mean step of a fresh process, ms, and how many processors other programs used meanwhile."""
    busy_s, own_s, begin_s = _busy_s(), _own_s(), time.monotonic()
    done = subprocess.run(
        pair.command(fixed), check=True, cwd=ROOT, env=pair.environment(), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    took_s = time.monotonic() - begin_s
    others = max(0.0, (_busy_s() - busy_s) - (_own_s() - own_s)) / took_s
    step_ms: list[float] = json.loads(done.stdout.splitlines()[-1])["step_ms"]
    return statistics.fmean(step_ms[pair.warm_up :]), others


def _undisturbed(pair: Pair, fixed: bool, tries: int) -> tuple[float, float]:
    """The least disturbed of so many tries."""
    best = _process(pair, fixed)
    for _ in range(tries - 1):
        if best[1] <= OTHERS:
            break
        best = min(best, _process(pair, fixed), key=lambda attempt: attempt[1])
    return best


def measure(pair: Pair, most_pairs: int, tries: int) -> Measured:
    before: list[float] = []
    after: list[float] = []
    others: list[float] = []
    while True:
        for fixed in (False, True, True, False):
            step_ms, disturbed = _undisturbed(pair, fixed, tries)
            (after if fixed else before).append(step_ms)
            others.append(disturbed)
        ratio, low, high = interval(after, before)
        found = Measured(
            ratio, low, high, len(before), statistics.median(before), statistics.median(after), statistics.fmean(others)
        )
        if len(before) >= most_pairs or (len(before) >= LEAST_PAIRS and found.is_sharp):
            return found


def ratio_of_medians(after: Sequence[float], before: Sequence[float]) -> tuple[float, float, float]:
    """For recorded steps, which are no pairs: the ratio, and its 95 % interval by bootstrap of both."""
    draw = random.Random(1)
    ratios = sorted(
        statistics.median(draw.choices(after, k=len(after))) / statistics.median(draw.choices(before, k=len(before)))
        for _ in range(4000)
    )
    return statistics.median(after) / statistics.median(before), ratios[100], ratios[3899]
