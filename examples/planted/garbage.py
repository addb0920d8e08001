# SPDX-License-Identifier: Apache-2.0
"""Every batch is parsed into many small objects, while a large index lives: the garbage collector walks through all of it, often."""

from __future__ import annotations

import planted
import torch

RECORDS, LIVE = 80_000, 300_000


def parsed(numbers: list[float]) -> torch.Tensor:
    records = [[number, number * 0.5] for number in numbers]  # the problem: each list is one that the collector follows
    return torch.tensor([sum(record) for record in records]).view(-1, 400)


def main() -> None:
    device = planted.device()
    index = [[number] for number in range(LIVE)]  # … and so are these
    model = planted.mlp(400, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.steps(60)):
        inputs = parsed(torch.rand(RECORDS).tolist()).to(device)
        planted.train(model, optimizer, inputs, torch.randint(10, (len(inputs),), device=device))
    print(f"index of {len(index)} records")


if __name__ == "__main__":
    main()
