# SPDX-License-Identifier: Apache-2.0
"""AdamW as one writes it, over 400 parameters of a middling size: on a CPU it takes a dozen passes over each of them."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    model = planted.mlp(128, 200).to(device)
    optimizer = torch.optim.AdamW(model.parameters())  # the problem: fused=True
    for _ in range(planted.steps(40)):
        planted.train(model, optimizer, torch.rand(16, 128, device=device), torch.randint(10, (16,), device=device))


if __name__ == "__main__":
    main()
