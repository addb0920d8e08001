# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the scripts in this folder: a device, a number of steps, one step of training."""

from __future__ import annotations

import argparse

import torch
from torch import nn


def steps(default: int) -> int:
    """`--steps N` of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=default)
    return int(parser.parse_args().steps)


def device() -> torch.device:
    torch.manual_seed(0)
    if torch.cuda.is_available():
        return torch.device("cuda")
    torch.set_num_threads(1)
    return torch.device("cpu")


def mlp(width: int, layers: int) -> nn.Sequential:
    blocks = [module for _ in range(layers) for module in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*blocks, nn.Linear(width, 10))


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    loss = nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
