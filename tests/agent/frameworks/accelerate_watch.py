# SPDX-License-Identifier: Apache-2.0
"""A loop with accelerate that gapless watches: the optimiser steps at every second batch only."""

from __future__ import annotations

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from watched import OPTIONS, report  # which puts gapless on the path

# isort: split
from gapless.integrations.accelerate import watch

if __name__ == "__main__":
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(net.parameters())
    data = DataLoader(TensorDataset(torch.randn(160, 8)), batch_size=4)
    net, optimizer, data = accelerator.prepare(net, optimizer, data)
    taken = 0
    with watch(accelerator, **OPTIONS) as watched:
        for (x,) in data:
            with accelerator.accumulate(net):
                accelerator.backward(net(x).square().mean())
                taken += accelerator.sync_gradients
                optimizer.step()
                optimizer.zero_grad()
    report(watched, taken)
