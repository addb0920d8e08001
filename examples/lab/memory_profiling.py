#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records where the memory of a few training steps goes: `gapless analyze FILE` reads what it writes.

On a GPU a snapshot of the allocator (memory.pickle), everywhere PyTorch's recording with memory events (memory.json).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


class Net(nn.Module):  # type: ignore[misc,unused-ignore]
    """Keeps every activation until the backward pass: the deeper, the more."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.head = nn.Linear(width, 10)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            inputs = torch.relu(layer(inputs))
        found: torch.Tensor = self.head(inputs)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("memory"))
    for name, default in (("width", 512), ("layers", 8), ("batch", 256), ("steps", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda" if on_gpu else "cpu")
    model = Net(given.width, given.layers).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    if on_gpu:
        torch.cuda.memory._record_memory_history()
    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    with profile(activities=kinds, profile_memory=True, record_shapes=True) as profiler:
        for _ in range(given.steps):
            inputs = torch.randn(given.batch, given.width, device=device)
            loss = nn.functional.cross_entropy(model(inputs), torch.randint(10, (given.batch,), device=device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    profiler.export_chrome_trace(str(given.folder / "memory.json"))
    print(f"recorded {given.folder / 'memory.json'}")
    if on_gpu:
        torch.cuda.memory._dump_snapshot(str(given.folder / "memory.pickle"))
        print(f"recorded {given.folder / 'memory.pickle'}")
        print(f"peak {torch.cuda.max_memory_allocated() / 1e6:.1f} MB")
    else:
        print("a snapshot of the allocator, and its peak, need a GPU")
    print(f"final_loss {loss.item():.9g}")


if __name__ == "__main__":
    main()
