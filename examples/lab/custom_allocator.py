#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batches of many sizes through pools of memory: host buffers that are used again, and on a GPU a memory pool of the model's own.

On a CPU: --steps 20. Shown at the end: what was allocated, and what the pools spared.
"""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

import torch
from torch import nn

WIDTH = 256


class HostPool:
    """Buffers by size, rounded up to a power of two. Pinned where there is a GPU: allocating such memory stalls it."""

    def __init__(self, pinned: bool) -> None:
        self.pinned = pinned
        self.free: dict[int, list[torch.Tensor]] = {}
        self.made = self.used = 0

    def take(self, rows: int) -> torch.Tensor:
        size = 1 << (rows - 1).bit_length()
        self.used += 1
        waiting = self.free.setdefault(size, [])
        if not waiting:
            self.made += 1
            waiting.append(torch.empty(size, WIDTH, pin_memory=self.pinned))
        return waiting.pop()

    def give(self, buffer: torch.Tensor) -> None:
        self.free[buffer.shape[0]].append(buffer)


def device_pool(device: torch.device) -> tuple[Any, str]:
    """A block's allocations go to a pool of their own; why not, where they do not."""
    if device.type != "cuda":
        return contextlib.nullcontext(), "a device memory pool needs a GPU: only the host pool was used"
    if not hasattr(torch.cuda, "MemPool"):
        return contextlib.nullcontext(), f"a device memory pool needs PyTorch 2.6, this is {torch.__version__}"
    return torch.cuda.use_mem_pool(torch.cuda.MemPool()), ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rows", type=int, default=512, help="most rows of a batch (512)")
    given = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    pool = HostPool(pinned=device.type == "cuda")
    own, why_not = device_pool(device)
    with own:
        for _ in range(given.steps):
            rows = int(torch.randint(1, given.rows + 1, ()))
            buffer = pool.take(rows)
            inputs = buffer[:rows].normal_()
            loss = nn.functional.cross_entropy(model(inputs.to(device)), torch.randint(10, (rows,)).to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            pool.give(buffer)
    print(f"host pool: {pool.used} batches in {pool.made} buffers")
    if device.type == "cuda":
        reserved = torch.cuda.memory_stats()["reserved_bytes.all.peak"]
        print(f"device: {reserved / 1e6:.1f} MB reserved at the most")
    if why_not:
        print(why_not)
    print(f"final_loss {loss.item():.9g}")


if __name__ == "__main__":
    main()
