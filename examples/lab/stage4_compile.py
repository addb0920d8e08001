#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stage 4: stage 3, and compiled: pointwise operators in one kernel."""

from __future__ import annotations

import itertools
import os
import time

import torch
from images import Images, arguments, network
from torch import nn
from torch.utils.data import DataLoader

WARM_UP = 10


def main() -> None:
    given = arguments(__doc__)
    torch.manual_seed(given.seed)
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = Images(given.data, given.size, given.seed)
    loader = DataLoader(
        dataset,
        batch_size=given.batch,
        shuffle=True,
        drop_last=True,
        num_workers=min(8, os.cpu_count() or 1),
        persistent_workers=True,
        prefetch_factor=4,
        pin_memory=device.type == "cuda",
    )
    model = network().to(device, memory_format=torch.channels_last)
    model.forward = torch.compile(model.forward)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=device.type == "cuda")
    criterion = nn.CrossEntropyLoss()
    losses = []
    right = 0
    started = time.perf_counter()
    for images, labels in itertools.islice(itertools.chain.from_iterable([loader] * given.epochs), given.steps):
        images = images.to(device, non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(device, non_blocking=True)
        if device.type == "cuda":
            torch.cuda.synchronize()
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype=torch.bfloat16):
            output = model(images)
            loss = criterion(output, labels)
        loss.backward()
        optimizer.step()
        if device.type == "cuda":
            torch.cuda.synchronize()
        losses.append(loss.item())
        right += (output.argmax(1) == labels).sum().item()
        if len(losses) == WARM_UP:
            started = time.perf_counter()
        if len(losses) % 10 == 0:
            print(f"step {len(losses)} loss {losses[-1]:.4f}", flush=True)

    if len(losses) > WARM_UP:
        rate = (len(losses) - WARM_UP) * given.batch / (time.perf_counter() - started)
        print(f"samples_per_second {rate:.1f}")
    print(f"accuracy {right / (len(losses) * given.batch):.4f}")
    print(f"final_loss {sum(losses[-10:]) / len(losses[-10:]):.9g}")


if __name__ == "__main__":
    main()
