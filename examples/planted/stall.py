# SPDX-License-Identifier: Apache-2.0
"""One step of 500 waits long for its batch: gapless monitor -- python stall.py"""

from __future__ import annotations

import time

import planted
import torch
from torch.utils.data import DataLoader, Dataset

BATCH = 4


class Stalling(Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    def __init__(self, steps: int) -> None:
        self.size = steps * BATCH

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        time.sleep(0.4 if index == self.size * 3 // 5 else 0.001)  # the problem
        return torch.rand(64), index % 10


def main() -> None:
    device = planted.device()
    model = planted.mlp(64, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for inputs, labels in DataLoader(Stalling(planted.steps(500)), batch_size=BATCH):
        planted.train(model, optimizer, inputs.to(device), labels.to(device))


if __name__ == "__main__":
    main()
