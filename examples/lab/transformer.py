#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT on synthetic tokens, with every part of a step in a range: NVTX for Nsight, record_function for PyTorch.

On a CPU: --width 64 --layers 2 --length 32 --batch 4 --steps 10.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterator

import torch
from torch import nn
from torch.profiler import record_function

WORDS = 256
WARM_UP = 10


@contextlib.contextmanager
def marked(name: str) -> Iterator[None]:
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.nvtx.range_push(name)
    try:
        with record_function(name):
            yield
    finally:
        if on_gpu:
            torch.cuda.nvtx.range_pop()


class Block(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.projections, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        with marked("attention"):
            parts = self.projections(self.before_attention(inputs)).chunk(3, dim=-1)
            query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
            seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            inputs = inputs + self.joined(seen.transpose(1, 2).flatten(2))
        with marked("mlp"):
            found: torch.Tensor = inputs + self.mlp(self.before_mlp(inputs))
            return found


class Gpt(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, width: int, layers: int, heads: int, length: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, WORDS))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        with marked("embedding"):
            state = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            state = block(state)
        with marked("head"):
            found: torch.Tensor = self.head(state)
            return found


def text(count: int, length: int) -> torch.Tensor:
    """Rows in which each word follows from the one before: there is something to learn."""
    first = torch.randint(WORDS, (count, 1))
    return (first + 7 * torch.arange(length)) % WORDS


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("width", 512), ("layers", 8), ("heads", 8), ("length", 256), ("batch", 16), ("steps", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def synchronized_time(device: torch.device) -> float:
    """The clock, read once the device has done all its work."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def main() -> None:
    given = arguments()
    torch.manual_seed(given.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Gpt(given.width, given.layers, given.heads, given.length).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    started = time.perf_counter()
    for number in range(given.steps):
        if number == WARM_UP:
            started = synchronized_time(device)
        with marked("step"):
            with marked("batch"):
                words = text(given.batch, given.length + 1).to(device)
            with marked("forward"):
                output = model(words[:, :-1])
                loss = nn.functional.cross_entropy(output.flatten(0, 1), words[:, 1:].flatten())
            with marked("backward"):
                loss.backward()
            with marked("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
        if (number + 1) % 10 == 0:
            print(f"step {number + 1} loss {loss.item():.4f}", flush=True)
    if given.steps > WARM_UP:
        rate = (given.steps - WARM_UP) * given.batch / (synchronized_time(device) - started)
        print(f"samples_per_second {rate:.1f}")
    print(f"final_loss {loss.item():.9g}")
    if device.type == "cpu":
        print("NVTX ranges need a GPU; the same ranges are there for PyTorch's profiler")


if __name__ == "__main__":
    main()
