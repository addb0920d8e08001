# SPDX-License-Identifier: Apache-2.0
"""Large matrix products on one thread: a line that was meant for loader workers stands in the training process."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    torch.set_num_threads(1)  # the problem: every other core idles
    model = planted.mlp(512, 6).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.steps(60)):
        planted.train(model, optimizer, torch.rand(512, 512, device=device), torch.randint(10, (512,), device=device))


if __name__ == "__main__":
    main()
