# SPDX-License-Identifier: Apache-2.0
"""AdamW updates 400 small parameters one after the other."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    model = planted.mlp(16, 200).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)  # the problem
    for _ in range(planted.steps(30)):
        planted.train(model, optimizer, torch.rand(64, 16, device=device), torch.randint(10, (64,), device=device))


if __name__ == "__main__":
    main()
