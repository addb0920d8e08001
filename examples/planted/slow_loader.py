# SPDX-License-Identifier: Apache-2.0
"""Batches are made in the training process (num_workers=0), and each sample takes its time."""

from __future__ import annotations

import time

import planted
import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        time.sleep(0.0006)  # a file is read and decoded
        return torch.rand(256), index % 10


def main() -> None:
    device = planted.device()
    model = planted.mlp(256, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = 16
    for inputs, labels in DataLoader(Slow(planted.steps(40) * batch), batch_size=batch):  # the problem
        planted.train(model, optimizer, inputs.to(device), labels.to(device))


if __name__ == "__main__":
    main()
