# SPDX-License-Identifier: Apache-2.0
"""Anomaly detection was left on: every operator keeps its traceback, and every gradient is looked through for NaN."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    torch.autograd.set_detect_anomaly(True)  # the problem: of use only while one looks for a NaN
    model = planted.mlp(64, 40).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.steps(60)):
        planted.train(model, optimizer, torch.rand(64, 64, device=device), torch.randint(10, (64,), device=device))


if __name__ == "__main__":
    main()
