# SPDX-License-Identifier: Apache-2.0
"""Joins the other ranks and leaves them, for ddp.py and fsdp.py."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Iterator

import torch
import torch.distributed as dist
from torch import nn

WIDTH = 256


def arguments(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32, help="of each rank (32)")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--accumulate", type=int, default=1, help="backward passes of a step (1)")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


@contextlib.contextmanager
def joined(seed: int) -> Iterator[torch.device]:
    """Under torchrun with its ranks; started by hand, one rank."""
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "0")):
        os.environ.setdefault(name, value)
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpu else "gloo")
    torch.manual_seed(seed)
    yield device
    dist.barrier()
    dist.destroy_process_group()
    if not on_gpu:
        # Let gloo's threads let go of the last work: a Python that ends under them aborts (pytorch/pytorch#179291).
        time.sleep(0.5)


def say(text: str) -> None:
    if dist.get_rank() == 0:
        print(text, flush=True)


class Block(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = inputs + self.layers(inputs)
        return found


def network(layers: int) -> nn.Sequential:
    return nn.Sequential(*(Block() for _ in range(layers)), nn.Linear(WIDTH, 10))


def train(model: nn.Module, given: argparse.Namespace, device: torch.device) -> float:
    """Every rank learns the same ten clusters from samples of its own; the mean loss of the last step over all ranks."""
    centres = torch.randn(10, WIDTH)
    torch.manual_seed(given.seed + 1 + dist.get_rank())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss = torch.zeros(())
    for number in range(given.steps):
        for _ in range(given.accumulate):  # each pass exchanges its gradients, see `gapless optimize --only nosync`
            labels = torch.randint(10, (given.batch,))
            inputs = centres[labels] + torch.randn(given.batch, WIDTH)
            loss = nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device))
            (loss / given.accumulate).backward()
        optimizer.step()
        optimizer.zero_grad()
        if (number + 1) % 10 == 0:
            say(f"step {number + 1} loss {loss.item():.4f}")
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    return float(mean / dist.get_world_size())
