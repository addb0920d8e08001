# SPDX-License-Identifier: Apache-2.0
"""Every batch has another size, and the cache is emptied: the allocator asks the driver again and again."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    model = planted.mlp(512, 8).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for number in range(planted.steps(60)):
        size = 512 + 397 * number % 4096
        planted.train(model, optimizer, torch.rand(size, 512, device=device), torch.randint(10, (size,), device=device))
        if device.type == "cuda":
            torch.cuda.empty_cache()  # the problem


if __name__ == "__main__":
    main()
