# SPDX-License-Identifier: Apache-2.0
"""A small training, and the list of the programs that do odd things while they train (odd_programs.py)."""

from __future__ import annotations

from typing import Callable

import torch

PROGRAMS: list[Callable[[], object]] = []


def odd(program: Callable[[], object]) -> Callable[[], object]:
    PROGRAMS.append(program)
    return program


class Training:
    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.2), torch.nn.Linear(4, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def step(self) -> float:
        loss = self.net(torch.rand(8, 4)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss)

    def steps(self, count: int) -> float:
        return [round(self.step(), 6) for _ in range(count)][-1]


def train(count: int = 20) -> float:
    return Training().steps(count)


def around(act: Callable[[], object]) -> float:
    """Trains into a window of the recorder, does the odd thing, and trains beyond the window's end."""
    training = Training()
    training.steps(10)
    act()
    return training.steps(12)
