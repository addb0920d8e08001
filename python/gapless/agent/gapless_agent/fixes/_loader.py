# SPDX-License-Identifier: Apache-2.0
"""What the fixes of DataLoaders share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Transform

NO_LOADER = "the program made no DataLoader"


def change(agent: Agent, fix: str, transform: Transform) -> None:
    from torch.utils.data import DataLoader

    agent.constructors.change(DataLoader, fix, transform)


def is_iterable(given: Given) -> bool:
    from torch.utils.data import IterableDataset

    return isinstance(given.get("dataset"), IterableDataset)


def holds_cuda(torch: Any, data: Any, depth: int = 3) -> bool:
    """Whether a dataset has tensors on a GPU: a forked worker cannot read them."""
    if isinstance(data, torch.Tensor):
        return bool(data.is_cuda)
    if depth == 0 or data is None or isinstance(data, (str, bytes, int, float)):
        return False
    if isinstance(data, (list, tuple)):
        return any(holds_cuda(torch, one, depth - 1) for one in data[:64])
    if isinstance(data, dict):
        return any(holds_cuda(torch, one, depth - 1) for one in list(data.values())[:64])
    return any(holds_cuda(torch, one, depth - 1) for one in list(getattr(data, "__dict__", {}).values()))
