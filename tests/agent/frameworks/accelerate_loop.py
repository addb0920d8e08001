# SPDX-License-Identifier: Apache-2.0
"""A loop with accelerate: the optimiser is wrapped and steps at every second batch only."""

from __future__ import annotations

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    data = DataLoader(TensorDataset(torch.randn(160, 8)), batch_size=4)
    net, optimizer, data, schedule = accelerator.prepare(net, optimizer, data, schedule)
    taken = 0
    for _ in range(2):
        for (x,) in data:
            with accelerator.accumulate(net):
                accelerator.backward(net(x).square().mean())
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(net.parameters(), 1.0)
                    taken += 1
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
    print("steps", taken)
