# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the scripts in this folder: the command line, models, one step of training, and the loop that times steps."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Given:
    case: str
    steps: int
    fix: str  # "workers=2"; empty: the script as it was

    def has(self, fix: str) -> bool:
        return self.fix.partition("=")[0] == fix

    def amount(self, fix: str) -> int:
        """N of `--fix NAME=N`; 0 without it."""
        return int(self.fix.partition("=")[2]) if self.has(fix) else 0


def given(cases: Sequence[str], fixes: Sequence[str]) -> Given:
    parser = argparse.ArgumentParser(description=f"Fixes: {', '.join(fixes)}.")
    parser.add_argument("case", choices=cases)
    parser.add_argument("--fix", default="", help="the fix, as `gapless predict --what` takes it")
    parser.add_argument("--steps", type=int, default=60)
    words = parser.parse_args()
    found = Given(words.case, words.steps, words.fix)
    if found.fix and not any(found.has(fix.partition("=")[0]) for fix in fixes):
        parser.error(f"this script can be fixed by {', '.join(fixes)}, not by {found.fix}")
    torch.manual_seed(0)
    return found


def mlp(width: int, layers: int) -> nn.Sequential:
    blocks = [module for _ in range(layers) for module in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*blocks, nn.Linear(width, 10))


def backward(loss: torch.Tensor, optimizer: torch.optim.Optimizer) -> torch.Tensor:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def train(steps: int, batches: Iterable[Any], step: Callable[[Any], object]) -> None:
    """Takes the given number of steps, and prints the duration of each."""
    took_ms: list[float] = []
    before = time.perf_counter()
    for batch in batches:
        step(batch)
        now = time.perf_counter()
        took_ms.append(round((now - before) * 1e3, 4))
        before = now
        if len(took_ms) == steps:
            break
    print(json.dumps({"step_ms": took_ms}))
