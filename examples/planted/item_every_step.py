# SPDX-License-Identifier: Apache-2.0
"""The loss is read after every step, so the host waits for the device before it goes on."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    model = planted.mlp(512, 40).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    total = 0.0
    for _ in range(planted.steps(60)):
        loss = planted.train(model, optimizer, torch.rand(64, 512, device=device), torch.randint(10, (64,), device=device))
        total += loss.item()  # the problem
    print(f"mean loss over {total:.3f}")


if __name__ == "__main__":
    main()
