# SPDX-License-Identifier: Apache-2.0
"""Large batches are copied from pageable memory while the device waits."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    model = planted.mlp(1024, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = [torch.rand(16384, 1024) for _ in range(4)]
    labels = torch.randint(10, (16384,))
    for number in range(planted.steps(60)):
        inputs = batches[number % 4].to(device)  # the problem: pin_memory(), non_blocking=True
        planted.train(model, optimizer, inputs, labels.to(device))


if __name__ == "__main__":
    main()
