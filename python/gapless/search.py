# SPDX-License-Identifier: Apache-2.0
"""A search for changes of a model that make its training faster, and leave it the same training."""

from __future__ import annotations

import copy
import functools
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

from .ab_test import ABTestResult
from .pairs import take_pairs
from .progress import say
from .training import Batches, Criterion, Kept, MakeOptimizer
from .validator import TrainedModel, measure_host_memory, warm_up

SAVED_SHARE = 0.05  # of the memory, which a change must save that is kept for memory alone


@dataclass
class Change:
    """A change of a model: `apply` returns the changed model, which may be the same object."""

    name: str
    fix: str  # its name in `gapless optimize`
    apply: Callable[[Any], Any]
    config: dict[str, Any]
    for_memory: bool = False  # keep it where it saves memory, also if steps take longer


class Search:
    """Keeps changes one after the other, each on top of those that were kept."""

    def __init__(
        self,
        model: Any,
        batches: Batches,
        training: tuple[MakeOptimizer | None, Criterion | None],
        pairs: int,
        warmup_steps: int,
        seed: int | None,
    ) -> None:
        self.model, self.batches, self.training = model, batches, training
        self.pairs, self.warmup_steps = pairs, max(1, warmup_steps)
        self.seed = secrets.randbits(32) if seed is None else seed
        self.kept: list[Change] = []
        self.rejected: dict[str, str] = {}
        self.memory_saved_gb = 0.0
        self.own_gb = 0.0  # memory of the model before the change that was compared last
        self.why_other = ""  # of the change that was compared last

    def best(self) -> Any:
        """Returns a copy of the model with the changes that were kept."""
        return self._with(self.kept)

    def attempt(self, change: Change) -> None:
        """Keeps the change if it is faster and the same training; otherwise `rejected` has the reason."""
        say(f"{change.name}: is it faster, and the same training?")
        try:
            found, same = self._compare(self.best(), self._with([*self.kept, change]))
        except Exception as error:  # noqa: BLE001 -- whatever a change does to a model, the search goes on
            self.rejected[change.name] = f"{type(error).__name__}: {str(error).strip()[:300]}"
            return
        saved = found.memory_saved_gb or 0.0
        enough = change.for_memory and saved > SAVED_SHARE * self.own_gb
        if not same:
            self.rejected[change.name] = self.why_other
        elif found.verdict != "faster" and not enough:
            low, high = (f"{end:.3f}" if end else "?" for end in found.speedup_confidence_interval)
            text = f"{found.verdict.replace('_', ' ')}: {found.speedup:.3f}× ({low} to {high})"
            self.rejected[change.name] = text + (f"; it saves {saved:.2f} GB of memory" if saved > 0.005 else "")
        else:
            self.kept.append(change)
            self.memory_saved_gb += saved

    def _with(self, changes: Sequence[Change]) -> Any:
        """Copies are made of the model as it was: a changed forward does not survive a copy."""
        return functools.reduce(lambda model, change: change.apply(model), changes, copy.deepcopy(self.model))

    def _compare(self, before: Any, after: Any) -> tuple[ABTestResult, bool]:
        models = [TrainedModel(model, *self.training) for model in (before, after)]
        with Kept(before), Kept(after):
            loss = warm_up(models, [next(self.batches) for _ in range(self.warmup_steps)], self.seed)
            sides = [model.side for model in models]
            measure_host_memory(models, self.batches)
            ratios = take_pairs(sides[0], sides[1], self.batches, self.pairs, random.Random(self.seed))
        self.own_gb = sides[0].memory_gb or 0.0
        self.why_other = "" if loss is None else loss.training.reason
        return ABTestResult.of(sides[0], sides[1], ratios, self.seed), loss is None or loss.parity is not False
