# SPDX-License-Identifier: Apache-2.0
"""Samples stay in memory once they are loaded, for the workers and the program together: from the second epoch on nothing is read or decoded.

Only datasets whose samples are the same each time. That is not believed but looked at: nothing may be drawn from the program's random
numbers while a sample is loaded; the first samples, and then one of 64, are loaded a second time and compared byte by byte, those that
come from memory, too. At the first difference the memory is given up, and the fix is refused.
"""

from __future__ import annotations

import operator
import os
import random
import sys
from typing import Any, Callable

from ..constructors import Given, Plan
from ..fix import Tools
from ..loader_switch import forks, holds_cuda
from ..patches import hide
from . import _sample_store
from ._loader import LoaderFix, is_iterable
from ._sample_store import SampleStore

LOOK_EVERY = 8  # steps between two looks at what the workers found
FIRST, ONE_OF = 2, 64  # samples that are loaded twice, of each process and epoch
SHARE = 4  # a quarter of the free memory is for samples
WHY = {
    _sample_store.RANDOM: "random numbers are drawn while a sample is loaded: it is another one each time",
    _sample_store.CHANGES: "a sample that was loaded twice was not the same",
}


class Cache(LoaderFix):
    def __init__(self, tools: Tools, name: str) -> None:
        super().__init__(tools, name)
        self.stores: dict[int, tuple[Any, SampleStore]] = {}  # by the identity of the dataset, which is kept alive
        self.wraps = False

    def why_not(self, value: str) -> str:
        return "" if hasattr(os, "memfd_create") else "this system has no memory for processes to share"

    def on(self, value: str) -> str:
        self.change(self._keep)
        return ""

    def nothing(self) -> str:
        self._look()
        return "no sample was loaded twice: the steps were those of one epoch" if self.stores else super().nothing()

    def _keep(self, given: Given) -> Plan | None:
        reason = self._why_not(given)
        if reason:
            self.report.pass_over(reason)
            return None
        dataset = given.get("dataset")
        if id(dataset) not in self.stores:
            self.stores[id(dataset)] = (dataset, SampleStore(self.torch, len(dataset), memory_for_samples()))
        if not self.wraps:
            from torch.utils.data._utils.fetch import _MapDatasetFetcher

            self.wraps = True
            self.context.patches.wrap(_MapDatasetFetcher, "__init__", self._around_init)
            self._look()
        return None  # it takes effect with the first sample that comes from memory

    def _why_not(self, given: Given) -> str:
        from torch.utils.data import TensorDataset

        dataset, context = given.get("dataset"), given.get("multiprocessing_context")
        if is_iterable(given):
            return "the dataset is an IterableDataset: its samples have no numbers"
        if given.get("batch_size") is None and given.get("batch_sampler") is None:
            return "the dataset makes whole batches"
        if isinstance(dataset, (TensorDataset, list, tuple)) or holds_cuda(self.torch, dataset):
            return "the samples are in memory already"
        if given.get("num_workers") and not (context == "fork" if context is not None else forks()):
            return "the workers are not forked: they share no memory with the program"
        try:
            return "" if len(dataset) else "the dataset is empty"
        except Exception:
            return "the dataset does not say how many samples it has"

    def _around_init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self_: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(self_, dataset, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            _, store = self.stores.get(id(dataset), (None, None))
            if store is not None and store.is_serving() and self_.auto_collation:
                self_.dataset = Kept(dataset, store)

        return __init__

    def _look(self) -> None:
        """Tells what workers found out, which cannot say so themselves."""
        if not self.report.is_on():
            return
        for _, store in self.stores.values():
            if store.state in WHY:
                self.report.refuse(WHY[store.state])
                return
            if store.served:
                self.report.changed("DataLoader: samples come from memory once they were loaded")
        self.context.at_step(self.context.step + LOOK_EVERY, self._look)


class Kept:
    """A dataset, some of whose samples come from memory."""

    def __init__(self, dataset: Any, store: SampleStore) -> None:
        self.dataset, self.store, self.loaded = dataset, store, 0
        self.many = getattr(dataset, "__getitems__", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dataset, name)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        numbers = [self._number(index) for index in indices]
        found = [None if number is None else self.store.get(number) for number in numbers]
        missing = [at for at, sample in enumerate(found) if sample is None]
        loaded = dict(zip(missing, self._load([indices[at] for at in missing], [numbers[at] for at in missing])))
        for number, index, sample in zip(numbers, indices, found):
            if sample is not None and number is not None and self._is_due():
                self._compare(index, self.store.packed(sample[0]))
        return [loaded[at] if sample is None else sample[0] for at, sample in enumerate(found)]

    def _number(self, index: Any) -> int | None:
        """Its place in the store; none: it cannot be kept."""
        try:
            number = operator.index(index)
        except TypeError:
            return None
        return number if 0 <= number < self.store.count else None

    def _is_due(self) -> bool:
        self.loaded += 1
        return self.loaded <= FIRST or self.loaded % ONE_OF == 0

    def _own(self, indices: list[Any]) -> list[Any]:
        """As the dataset would be asked without us."""
        return list(self.many(indices)) if self.many else [self.dataset[index] for index in indices]

    def _load(self, indices: list[Any], numbers: list[int | None]) -> list[Any]:
        if not indices:
            return []
        if self.store.state != _sample_store.OPEN:
            return self._own(indices)
        before = _drawn()
        samples = self._own(indices)
        if _drawn() != before:
            self.store.close(_sample_store.RANDOM)
            return samples
        for index, number, sample in zip(indices, numbers, samples):
            try:
                packed = self.store.packed(sample)
            except Exception:  # a sample that cannot be pickled is loaded each time
                continue
            if number is not None and (not self._is_due() or self._compare(index, packed)):
                self.store.add(number, packed)
        return samples

    def _compare(self, index: Any, packed: bytes) -> bool:
        same = bool(self.store.packed(self._own([index])[0]) == packed)
        if not same:
            self.store.close(_sample_store.CHANGES)
        return same


def _drawn() -> list[Any]:
    """The state of all generators that a program shares."""
    import torch

    states: list[Any] = [random.getstate(), torch.get_rng_state().numpy().tobytes()]
    if "numpy.random" in sys.modules:
        name, keys, *rest = sys.modules["numpy.random"].get_state()
        states += [name, keys.tobytes(), rest]
    return states


def memory_for_samples() -> int:
    """A part of what is free now, for this rank of the machine."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        free = int(lines["MemAvailable"].split()[0]) * 1024
        with (
            open("/sys/fs/cgroup/memory.max", encoding="ascii") as most,
            open("/sys/fs/cgroup/memory.current", encoding="ascii") as now,
        ):
            free = min(free, int(most.read()) - int(now.read()))
    except (OSError, KeyError, ValueError):
        pass
    return max(0, free) // (SHARE * max(1, int(os.environ.get("LOCAL_WORLD_SIZE") or 1)))


FIX = Cache
