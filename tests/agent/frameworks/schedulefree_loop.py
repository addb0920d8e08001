# SPDX-License-Identifier: Apache-2.0
"""A schedule-free optimiser, which is put into a mode for training and one for evaluation."""

from __future__ import annotations

import schedulefree
import torch

if __name__ == "__main__":
    net = torch.nn.Linear(8, 1)
    optimizer = schedulefree.AdamWScheduleFree(net.parameters(), lr=0.01)
    taken = 0
    for _ in range(3):
        net.train()
        optimizer.train()
        for _ in range(7):
            optimizer.zero_grad()
            net(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
            taken += 1
        optimizer.eval()
        with torch.no_grad():
            net(torch.randn(4, 8))
    print("steps", taken)
