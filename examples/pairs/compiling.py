# SPDX-License-Identifier: Apache-2.0
"""Operators are called one by one: `--fix compile`. The first step with the fix compiles."""

from __future__ import annotations

import itertools

import pairs
import torch
from torch import nn


class Chain(nn.Module):  # type: ignore[misc,unused-ignore]
    """Twenty cheap pointwise operations in a row: each reads and writes all of it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        values = values * self.gain
        for _ in range(4):
            values = torch.relu(values * 0.9 + 0.1) - 0.5 * values
        return values


class Blocks(nn.Module):  # type: ignore[misc,unused-ignore]
    """Small layers, with much Python before each."""

    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(count)])

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        for number, block in enumerate(self.blocks):
            drawn = number
            for _ in range(1000):
                drawn = (31 * drawn + 17) % 1009
            update = torch.tanh(block(values))
            values = values + (update if drawn % 2 else 0.5 * update)
        return values


def build(case: str) -> tuple[nn.Module, torch.Tensor]:
    if case == "chain":
        return Chain(2048), torch.rand(512, 2048)
    if case == "matrix":
        return pairs.mlp(1024, 3), torch.rand(128, 1024)
    return Blocks(64, 60), torch.rand(32, 64)


def main() -> None:
    given = pairs.given(["chain", "matrix", "python"], ["compile"])
    model, inputs = build(given.case)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    run = torch.compile(model) if given.has("compile") else model

    def step(_: object) -> None:
        pairs.backward(run(inputs).square().mean(), optimizer)

    pairs.train(given.steps, itertools.count(), step)


if __name__ == "__main__":
    main()
