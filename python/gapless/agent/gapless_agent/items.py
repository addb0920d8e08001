# SPDX-License-Identifier: Apache-2.0
"""Reading samples: the time in the dataset, in workers of a DataLoader and in the process itself, apart from collating them.

A batch is timed as a whole: from its start until its samples are handed to the collating function. Single samples are timed only
where they are so slow that this costs nothing, so that the longest one is known where it matters. A process that trains, too, times the
batches of the steps it looks at (step_writer.py).
"""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from . import layout
from .context import Context
from .patches import hide, unseen
from .python_profile import PythonProfile

EVERY_NS = 1_000_000_000
SLOW_SAMPLE_NS = 20_000


class Items:
    def __init__(self, context: Context, python: PythonProfile) -> None:
        self.context, self.python = context, python
        self.guard = context.guard(
            "the reading of samples", "How long the dataset takes for a sample is not known from here on."
        )
        self.reset()

    def reset(self) -> None:
        self.worker = layout.NONE
        self.timed = False  # some dataset is
        self.clear()

    def clear(self) -> None:
        self.samples = 0
        self.in_dataset_ns = 0
        self.longest_ns = layout.NONE
        self.written = time.perf_counter_ns()
        self.collated = 0

    def install(self) -> None:
        if not self.context.options.full:
            return
        from torch.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher

        for fetcher in (_MapDatasetFetcher, _IterableDatasetFetcher):
            self.guard.patches.wrap(fetcher, "fetch", self._around)
        self.guard.at_end(self.write)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context, clock = self.context, time.perf_counter_ns

        def fetch(self_: Any, index: Any) -> Any:
            looks = self.guard.on and context.looks
            try:
                if looks is not (type(self_.collate_fn) is Collate):
                    self._prepare(self_, looks)
            except Exception as error:
                self.guard.failed(error)
            if not looks:
                return original(self_, index)
            self.collated = 0
            before = clock()
            try:
                batch = original(self_, index)
            except BaseException as error:
                hide(error)
                raise
            after = clock()
            try:
                count = len(index) if type(index) is list and self_.auto_collation else self._count(self_, index)
                took = (self.collated or after) - before
                self.samples += count
                self.in_dataset_ns += took
                if self.timed or took >= count * SLOW_SAMPLE_NS or count == 1:
                    self._slow(self_, count, took)
                if after - self.written >= EVERY_NS:
                    self.write()
            except Exception as error:
                self.guard.failed(error)
            context.cost_ns += clock() - after
            return batch

        return fetch

    def _prepare(self, fetcher: Any, looks: bool) -> None:
        if not looks:
            fetcher.collate_fn = fetcher.collate_fn.collate
            return
        fetcher.collate_fn = Collate(self, fetcher.collate_fn)
        data = sys.modules.get("torch.utils.data")
        info = data.get_worker_info() if data is not None else None
        if info is not None:  # a worker: says so now, for when its work is done it no longer knows
            self.worker = info.id
            self.context.open()
            self.python.start_in_worker()

    def _count(self, fetcher: Any, index: Any) -> int:
        try:
            return len(index) if fetcher.auto_collation else 1
        except TypeError:
            return 1

    def _slow(self, fetcher: Any, count: int, took_ns: int) -> None:
        """A batch of one sample, of samples that take long, or maybe of a dataset that times them."""
        dataset = fetcher.dataset
        if isinstance(dataset, Timed):
            self.longest_ns = max(self.longest_ns, dataset.__dict__["longest_ns"])
            dataset.__dict__["longest_ns"] = layout.NONE
        elif count == 1:
            self.longest_ns = max(self.longest_ns, took_ns)
        elif took_ns >= count * SLOW_SAMPLE_NS and type(fetcher).__name__ == "_MapDatasetFetcher":
            fetcher.dataset, self.timed = Timed(dataset), True

    def write(self) -> None:
        if not self.samples:
            return
        context = self.context
        functions = self.python.in_dataset()
        context.emit(
            layout.KIND_ITEMS, value=self.worker, a=self.samples, b=self.in_dataset_ns,
            x=float(self.longest_ns), y=float(context.json(functions)) if functions else 0.0,
        )  # fmt: skip
        if context.ring is not None and self.worker >= 0:
            context.ring.progress(0, context.all_cost_ns(), context.all_hook_calls())
        self.clear()


class Collate:
    """The collating function, with the time when it got its samples."""

    def __init__(self, items: Items, collate: Callable[[Any], Any]) -> None:
        self.items, self.collate = items, collate

    @unseen
    def __call__(self, samples: Any) -> Any:
        self.items.collated = time.perf_counter_ns()
        try:
            return self.collate(samples)
        except BaseException as error:
            hide(error)
            raise


class Timed:
    """A dataset whose samples are timed one by one; in everything else the dataset itself."""

    def __init__(self, dataset: Any) -> None:
        self.__dict__["dataset"] = dataset
        self.__dict__["longest_ns"] = layout.NONE

    @unseen
    def __getitem__(self, index: Any) -> Any:
        before = time.perf_counter_ns()
        try:
            return self.__dict__["dataset"][index]
        except BaseException as error:
            hide(error)
            raise
        finally:
            took = time.perf_counter_ns() - before
            self.__dict__["longest_ns"] = max(self.__dict__["longest_ns"], took)

    def __len__(self) -> int:
        return len(self.__dict__["dataset"])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["dataset"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["dataset"], name, value)
