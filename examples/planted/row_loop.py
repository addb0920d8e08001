# SPDX-License-Identifier: Apache-2.0
"""A Python loop over the rows of a tensor where one operator would do."""

from __future__ import annotations

import planted
import torch


def normalised(batch: torch.Tensor) -> torch.Tensor:
    rows = []
    for row in batch:  # the problem: (batch - batch.mean(1, keepdim=True)) / batch.std(1, keepdim=True)
        rows.append((row - row.mean()) / row.std())
    return torch.stack(rows)


def main() -> None:
    device = planted.device()
    model = planted.mlp(32, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.steps(30)):
        inputs = normalised(torch.rand(256, 32, device=device))
        planted.train(model, optimizer, inputs, torch.randint(10, (256,), device=device))


if __name__ == "__main__":
    main()
