# SPDX-License-Identifier: Apache-2.0
"""The base of the fixes of DataLoaders."""

from __future__ import annotations

from typing import Callable

from ..constructors import Given, Transform
from ..fix import ProgramFix
from ..loader_switch import Setting


class LoaderFix(ProgramFix):
    def nothing(self) -> str:
        return "the program made no DataLoader"

    def change(self, transform: Transform) -> None:
        from torch.utils.data import DataLoader

        self.change_arguments(DataLoader, transform)

    # Between two steps, see loader_switch.py.

    def why_not_switch(self, is_unchanged: bool) -> str:
        """Returns why loaders cannot change between two steps of this program; "" when they can. `is_unchanged`: they load as made."""
        loaders = self.tools.loader_switch
        if self.report.is_on() and is_unchanged:
            return "it was on when the DataLoaders were made"
        if loaders is None:
            return "it can only be on from the start: the program's DataLoaders were not made to be changed later"
        reason = loaders.why_not()
        return f"it can only be on from the start: {reason}" if reason else ""

    def why_same(self, is_same: Callable[[Setting], bool], words: str) -> str:
        """Returns "every DataLoader has …" where that is so of all that can change; "" else, and at the start."""
        loaders = self.tools.loader_switch
        own = loaders.own if self.context.step and loaders is not None else {}
        return f"every DataLoader has {words}" if own and all(map(is_same, own.values())) else ""

    def switch(self, **wanted: int | None) -> str:
        """Loaders change at their next batch. Returns what that is; none: back to what the program asked for."""
        loaders = self.tools.loader_switch
        assert loaders is not None
        loaders.want(**{"workers": loaders.workers, "prefetch": loaders.prefetch, **wanted})
        now = {loaders.setting(own) for own in loaders.own.values()}
        each = sorted(
            f"{to.workers} workers" + (f" that fetch {to.prefetch} batches ahead each" if to.workers else "")
            for to in now
        )
        return f"DataLoaders load with {' or '.join(each)}"


def is_iterable(given: Given) -> bool:
    from torch.utils.data import IterableDataset

    return isinstance(given.get("dataset"), IterableDataset)
