# SPDX-License-Identifier: Apache-2.0
"""Functions that the fixes of DataLoaders share."""

from __future__ import annotations

import multiprocessing
import sys
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Transform
    from ..loader_switch import LoaderSwitch, Setting

NO_LOADER = "the program made no DataLoader"


def change(agent: Agent, fix: str, transform: Transform) -> None:
    from torch.utils.data import DataLoader

    agent.constructors.change(DataLoader, fix, transform)


# Between two steps, see loader_switch.py.


def cannot_switch(agent: Agent, fix: str, is_unchanged: bool) -> str:
    """Returns why loaders cannot change between two steps of this program; "" when they can. `is_unchanged`: they load as made."""
    if agent.fixes.is_on(fix) and is_unchanged:
        return "it was on when the DataLoaders were made"
    if agent.loader_switch is None:
        return "it can only be on from the start: the program's DataLoaders were not made to be changed later"
    reason = agent.loader_switch.why_not()
    return f"it can only be on from the start: {reason}" if reason else ""


def why_same(agent: Agent, is_same: Callable[[Setting], bool], words: str) -> str:
    """Returns "every DataLoader has …" where that is so of all that can change; "" else, and at the start."""
    own = agent.loader_switch.own if agent.step and agent.loader_switch is not None else {}
    return f"every DataLoader has {words}" if own and all(map(is_same, own.values())) else ""


def switch(agent: Agent, **wanted: int | None) -> str:
    """Loaders change at their next batch. Returns what that is; none: back to what the program asked for."""
    loaders: LoaderSwitch | None = agent.loader_switch
    assert loaders is not None
    loaders.want(**{"workers": loaders.workers, "prefetch": loaders.prefetch, **wanted})
    now = {loaders.setting(own) for own in loaders.own.values()}
    each = sorted(
        f"{to.workers} workers" + (f" that fetch {to.prefetch} batches ahead each" if to.workers else "") for to in now
    )
    return f"DataLoaders load with {' or '.join(each)}"


def is_iterable(given: Given) -> bool:
    from torch.utils.data import IterableDataset

    return isinstance(given.get("dataset"), IterableDataset)


def holds_cuda(torch: Any, data: Any, depth: int = 3) -> bool:
    """Returns true if a dataset has tensors on a GPU: a forked worker cannot read them."""
    if isinstance(data, torch.Tensor):
        return bool(data.is_cuda)
    if depth == 0 or data is None or isinstance(data, (str, bytes, int, float)):
        return False
    if isinstance(data, (list, tuple)):
        return any(holds_cuda(torch, value, depth - 1) for value in data[:64])
    if isinstance(data, dict):
        return any(holds_cuda(torch, value, depth - 1) for value in list(data.values())[:64])
    return any(holds_cuda(torch, value, depth - 1) for value in list(getattr(data, "__dict__", {}).values()))


def forks() -> bool:
    """Returns true if workers are forked by default; does not choose a start method for the program."""
    if not sys.platform.startswith("linux"):
        return True  # what is usual there is best there
    chosen = multiprocessing.get_start_method(allow_none=True)
    return chosen == "fork" or (chosen is None and sys.version_info < (3, 14))
