# SPDX-License-Identifier: Apache-2.0
"""Small trainings on the CPU, each with one thing that costs time, for bench/planner.py.

usage: small_trainings.py KIND [--steps N] [--seconds S]

With --seconds it stops after so long, and prints the mean step that its own clock saw, without the first ten.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from typing import Any, Callable

import torch
from torch import nn


class Clock:
    """When each step began; ends the training after so many seconds."""

    WARM_UP = 10

    def __init__(self) -> None:
        self.max_s: float | None = None
        self.begun_s: list[float] = []

    def steps(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            self.begun_s.append(time.perf_counter())
            warm = self.begun_s[self.WARM_UP :]
            if self.max_s is not None and warm and warm[-1] - warm[0] > self.max_s:
                return
            yield batch

    def mean_ms(self) -> float:
        measured = self.begun_s[self.WARM_UP :]
        return 1e3 * (measured[-1] - measured[0]) / (len(measured) - 1)


CLOCK = Clock()


def mlp(width: int, layers: int) -> nn.Module:
    blocks = [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(layers)]
    return nn.Sequential(*blocks, nn.Linear(width, 10))


def classify(model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterator[Any]) -> None:
    for inputs, labels in CLOCK.steps(batches):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def random_batches(steps: int, rows: int, width: int, dtype: torch.dtype = torch.float32) -> Iterator[Any]:
    for _ in range(steps):
        yield torch.rand(rows, width, dtype=dtype), torch.randint(10, (rows,))


def tiny_operators(steps: int) -> None:
    """A rollout of many tiny operators, then an update: a second thread has nothing to do."""
    policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 8))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    for _ in CLOCK.steps(range(steps)):
        state, reward = torch.zeros(256, 8), torch.zeros(())
        for _ in range(16):
            state = torch.tanh(state + policy(state))
            reward = reward + state.square().mean()
        optimizer.zero_grad()
        reward.backward()
        optimizer.step()


class Rows(torch.utils.data.Dataset[Any]):  # type: ignore[misc,unused-ignore]
    def __init__(self, rows: int, work_s: float) -> None:
        self.rows, self.work_s = rows, work_s

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, row: int) -> Any:
        end = time.perf_counter() + self.work_s
        while time.perf_counter() < end:
            pass
        return torch.full((256,), float(row % 7)), row % 10


def loaded(steps: int, workers: int, work_s: float, layers: int) -> None:
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(Rows(32 * steps, work_s), batch_size=32, num_workers=workers)
    model = mlp(256, layers)
    classify(model, torch.optim.SGD(model.parameters(), lr=0.01), iter(loader))


def many_workers(steps: int) -> None:
    """Four workers that have nearly nothing to do, beside a training that uses both processors."""
    loaded(steps, 4, 0.0, 8)


def slow_transform(steps: int) -> None:
    """A transform of 0.3 ms a sample in the training's own process."""
    loaded(steps, 0, 0.0003, 4)


def looping_optimizer(steps: int) -> None:
    """AdamW updates 120 small parameters one after the other."""
    model = mlp(16, 60)
    classify(model, torch.optim.AdamW(model.parameters(), foreach=False), random_batches(steps, 64, 16))


def kept_gradients(steps: int) -> None:
    """Gradients of a wide model are filled with zeros, and added to."""
    model = mlp(1024, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for inputs, labels in CLOCK.steps(random_batches(steps, 8, 1024)):
        optimizer.zero_grad(set_to_none=False)
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def anomaly(steps: int) -> None:
    """Anomaly detection was left on."""
    torch.autograd.set_detect_anomaly(True)
    model = mlp(32, 40)
    classify(model, torch.optim.SGD(model.parameters(), lr=0.01), random_batches(steps, 64, 32))


def one_thread(steps: int) -> None:
    """Large matrix products on one thread."""
    torch.set_num_threads(1)
    model = mlp(512, 6)
    classify(model, torch.optim.SGD(model.parameters(), lr=0.01), random_batches(steps, 256, 512))


def double_precision(steps: int) -> None:
    """The model is in float64 by accident, which no fix changes; its optimiser loops."""
    model = mlp(64, 60).double()
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    classify(model, optimizer, random_batches(steps, 32, 64, torch.float64))


class Chain(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.head = nn.Linear(64, 64), nn.Linear(64, 10)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        rows = self.inner(rows)
        for _ in range(12):
            rows = torch.tanh(rows * 1.01 + 0.1).square() - rows.sigmoid() * 0.5
        return self.head(rows)


def pointwise_chain(steps: int) -> None:
    """A long chain of elementwise operators, which a compiler fuses."""
    model = Chain()
    classify(model, torch.optim.SGD(model.parameters(), lr=0.01), random_batches(steps, 4096, 64))


KINDS: dict[str, Callable[[int], None]] = {
    kind.__name__: kind
    for kind in (
        tiny_operators,
        many_workers,
        slow_transform,
        looping_optimizer,
        kept_gradients,
        anomaly,
        one_thread,
        double_precision,
        pointwise_chain,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--seconds", type=float)
    given = parser.parse_args()
    torch.manual_seed(1)
    CLOCK.max_s = given.seconds
    KINDS[given.kind](given.steps)
    if given.seconds is not None:
        print(f"ms_per_step {CLOCK.mean_ms():.5f}")


if __name__ == "__main__":
    main()
