# SPDX-License-Identifier: Apache-2.0
"""The loss is read after every step, which makes a host wait for its device: `--fix sync` reads them all at the end.

Where there is no device, nobody waits, and the fix brings nothing.
"""

from __future__ import annotations

import itertools

import pairs
import torch
from torch import nn

BATCH = 32


def convolutions() -> nn.Sequential:
    layers = [nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1, stride=2), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10))


def main() -> None:
    given = pairs.given(["mlp", "conv"], ["sync"])
    model = pairs.mlp(512, 24) if given.case == "mlp" else convolutions()
    inputs = torch.rand(BATCH, 512) if given.case == "mlp" else torch.rand(BATCH, 3, 48, 48)
    labels = torch.randint(10, (BATCH,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    kept: list[torch.Tensor] = []
    read: list[float] = []

    def step(_: object) -> None:
        loss = pairs.backward(nn.functional.cross_entropy(model(inputs), labels), optimizer)
        if given.has("sync"):
            kept.append(loss.detach())
        else:
            read.append(loss.item())

    pairs.train(given.steps, itertools.count(), step)
    read.extend(loss.item() for loss in kept)


if __name__ == "__main__":
    main()
