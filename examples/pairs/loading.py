# SPDX-License-Identifier: Apache-2.0
"""Batches are made in the training process, from pageable memory: `--fix workers=N`, `--fix pin`."""

from __future__ import annotations

import time

import pairs
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH, WIDTH = 32, 512


class Samples(Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    """Each sample computes in Python for a while, and waits for a file for a while."""

    def __init__(self, size: int, rounds: int, wait_s: float) -> None:
        self.size, self.rounds, self.wait_s = size, rounds, wait_s

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        value = index + 1
        for _ in range(self.rounds):
            value = (1103515245 * value + 12345) & 0x7FFFFFFF
        if self.wait_s:
            time.sleep(self.wait_s)
        return torch.full((WIDTH,), value / 0x7FFFFFFF), index % 10


# Layers of the model, and what a sample takes.
CASES: dict[str, tuple[int, int, float]] = {
    "python": (8, 12000, 0),  # a loader that computes in Python
    "files": (8, 0, 0.00125),  # one that waits for files
    "tiny": (24, 0, 0),  # one that has nothing to do
    "busy": (24, 6000, 0),  # one that computes, beside training that has all processors (OMP_NUM_THREADS)
}


def main() -> None:
    given = pairs.given(list(CASES), ["workers=N", "pin"])
    layers, rounds, wait_s = CASES[given.case]
    model = pairs.mlp(WIDTH, layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batch: tuple[torch.Tensor, torch.Tensor]) -> None:
        pairs.backward(nn.functional.cross_entropy(model(batch[0]), batch[1]), optimizer)

    samples = Samples(given.steps * BATCH, rounds, wait_s)
    loader = DataLoader(samples, batch_size=BATCH, num_workers=given.amount("workers"), pin_memory=given.has("pin"))
    pairs.train(given.steps, loader, step)


if __name__ == "__main__":
    main()
