# SPDX-License-Identifier: Apache-2.0
"""The optimiser updates parameter after parameter: `--fix fused_optimizer`."""

from __future__ import annotations

import itertools

import pairs
import torch
from torch import nn


class Rows(nn.Module):  # type: ignore[misc,unused-ignore]
    """A matrix, each row of which is a parameter: little to compute, and much to update."""

    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.rows = nn.ParameterList([nn.Parameter(torch.randn(width) / width) for _ in range(count)])

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs @ torch.stack(list(self.rows)).t()


def main() -> None:
    given = pairs.given(["adamw_many", "sgd_many", "adam_large"], ["fused_optimizer"])
    fused = True if given.has("fused_optimizer") else None
    optimizer: torch.optim.Optimizer
    if given.case == "adam_large":
        width, model = 1024, pairs.mlp(1024, 3)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=fused)
    elif given.case == "adamw_many":
        width, model = 128, Rows(256, 128)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)
    else:
        width, model = 128, Rows(800, 128)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, fused=fused)
    inputs, labels = torch.rand(256, width), torch.randint(10, (256,))

    def step(_: object) -> None:
        pairs.backward(nn.functional.cross_entropy(model(inputs), labels), optimizer)

    pairs.train(given.steps, itertools.count(), step)


if __name__ == "__main__":
    main()
