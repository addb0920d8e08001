# SPDX-License-Identifier: Apache-2.0
"""Gradients are filled with zeros and added to, where they could be dropped and written anew."""

from __future__ import annotations

import planted
import torch
from torch import nn


def main() -> None:
    device = planted.device()
    model = planted.mlp(1024, 16).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.steps(60)):
        inputs, labels = torch.rand(4, 1024, device=device), torch.randint(10, (4,), device=device)
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad(set_to_none=False)  # the problem
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
