# SPDX-License-Identifier: Apache-2.0
"""train.py TRAINING [--seed N] [--steps N] [CHANGE...]: an ordinary training, with switches.

gapless same --claim bf16 -- python bench/parity/train.py conv -- python bench/parity/train.py conv bf16
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Any, Callable

import harmful  # noqa: F401  # registers its changes
import torch
from changes import CHANGES
from torch.utils.data import DataLoader
from trainings import TRAININGS, Part, Training

torch.set_num_threads(1)


class Run:
    """A training under way. Changes edit it: each list has functions that are called in their order."""

    def __init__(self, training: Training) -> None:
        self.training = training
        self.acted = False  # a change that acts in some steps only has done so
        self.batches = 0
        self.steps = 0  # that optimisers have taken
        self.loader: dict[str, Any] = {}
        self.scopes: list[Callable[[], Any]] = []  # around forward passes
        self.on_settings: list[Callable[[Part], None]] = []
        self.on_samples: list[Callable[[list[Any]], list[Any]]] = []  # of a batch
        self.on_losses: list[Callable[[torch.Tensor], torch.Tensor]] = []
        self.on_scaled: list[Callable[[list[torch.Tensor]], Any]] = []  # parameters, before clipping
        self.on_gradients: list[Callable[[list[torch.Tensor]], None]] = []  # parameters, after clipping
        self.mean: Callable[[torch.Tensor], torch.Tensor] = torch.mean
        self.pieces = 1  # into which a batch is cut
        self.divides = self.clips = True
        self.steps_twice: Callable[[], bool] = lambda: False
        self.forgets_zero: Callable[[], bool] = lambda: False
        self.schedules = 1
        self.zero: dict[str, Any] = {}
        self.scaler: Any = None

    def collate(self, samples: list[Any]) -> list[torch.Tensor]:
        for edit in self.on_samples:
            samples = edit(samples)
        self.batches += 1
        return [torch.stack(column) for column in zip(*samples)]

    def make_optimizers(self) -> None:
        for part in self.training.parts:
            for edit in self.on_settings:
                edit(part)
        self.optimizers = [part.optimizer(part.groups, **part.settings) for part in self.training.parts]
        schedule = self.training.schedule
        self.schedulers = [torch.optim.lr_scheduler.LambdaLR(o, schedule) for o in self.optimizers] if schedule else []

    def backward(self, part: Part, batch: list[torch.Tensor]) -> None:
        for piece in zip(*(column.tensor_split(self.pieces) for column in batch)):
            with contextlib.ExitStack() as stack:
                for scope in self.scopes:
                    stack.enter_context(scope())
                losses = part.loss(*piece)
            for edit in self.on_losses:
                losses = edit(losses)
            loss = self.mean(losses) * (len(piece[0]) / len(batch[0]))
            if self.training.accumulate > 1 and self.divides:
                loss = loss / self.training.accumulate
            (self.scaler.scale(loss) if self.scaler is not None else loss).backward()

    def update(self, part: Part, optimizer: Any) -> None:
        parameters = [value for group in part.groups for value in group["params"]]
        if self.scaler is not None:
            self.scaler.unscale_(optimizer)
        for edit in self.on_scaled:
            edit(parameters)
        if part.clip is not None and self.clips:
            torch.nn.utils.clip_grad_norm_(parameters, part.clip)
        for edit in self.on_gradients:
            edit(parameters)
        for _ in range(2 if self.steps_twice() else 1):
            if self.scaler is not None:
                self.scaler.step(optimizer)
                self.scaler.update()
            else:
                optimizer.step()
        self.steps += 1

    def batch(self, batch: list[torch.Tensor], steps: bool) -> None:
        for part, optimizer in zip(self.training.parts, self.optimizers):
            self.backward(part, batch)
            if not steps:
                continue
            self.update(part, optimizer)
            if not self.forgets_zero():
                self.training.model.zero_grad(**self.zero)
        for scheduler in self.schedulers if steps else []:
            for _ in range(self.schedules):
                scheduler.step()

    def epochs(self) -> Iterator[list[torch.Tensor]]:
        while True:
            given: dict[str, Any] = {"batch_size": self.training.batch, "shuffle": True, **self.loader}
            yield from DataLoader(self.training.data, collate_fn=self.collate, **given)


def train(name: str, seed: int = 0, steps: int = 20, changes: tuple[str, ...] = ()) -> Run | None:
    """Returns None if a change does not apply to the training."""
    torch.manual_seed(seed)
    run = Run(TRAININGS[name]())
    for change in changes:
        if CHANGES[change].apply(run) is False:
            return None
    run.make_optimizers()
    every = run.training.accumulate
    for count, batch in enumerate(run.epochs(), 1):
        run.batch(batch, count % every == 0)
        if run.steps >= steps:
            return run
    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("training", choices=TRAININGS)
    parser.add_argument("changes", nargs="*", metavar="CHANGE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    if train(given.training, given.seed, given.steps, tuple(given.changes)) is None:
        parser.error("a change does not apply to this training")


if __name__ == "__main__":
    main()
