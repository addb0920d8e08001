# SPDX-License-Identifier: Apache-2.0
"""Processes load the batches beside the training: `num_workers`, kept alive from epoch to epoch.

Without a number only loaders that have no workers get some (4). Batches come in the same order; numbers drawn inside of a dataset
come from the workers' generators instead of the program's. Between two steps workers are exchanged where loader_switch.py can.
"""

from __future__ import annotations

from ..constructors import Given, Plan
from ..loader_switch import forks, holds_cuda
from ._devices import number
from ._loader import LoaderFix, is_iterable

USUAL = 4
PREFETCH = 4


class Workers(LoaderFix):
    live = True

    def why_not(self, value: str) -> str:
        if value and number(value, 0) is None:
            return f"{value!r} is no number of workers"
        return self.why_same(lambda own: own.workers == _count(value), f"num_workers={value} already")

    def cannot_switch(self) -> str:
        was_asked = self.tools.loader_switch is not None and self.tools.loader_switch.workers is None
        return self.why_not_switch(was_asked)

    def on(self, value: str) -> str:
        if self.context.step:
            return self.switch(workers=_count(value))
        self.change(lambda given: self._more(given, number(value, 0)))
        return ""

    def off(self) -> str:
        return self.switch(workers=None)

    def _why_not(self, given: Given) -> str:
        from torch.utils.data import BatchSampler

        sampler = given.get("batch_sampler")
        if is_iterable(given):
            return "the dataset is an IterableDataset: each worker would read all of it"
        if holds_cuda(self.torch, given.get("dataset")):
            return "the dataset holds tensors on a GPU, which workers cannot read"
        if sampler is not None and type(sampler) is not BatchSampler:
            return f"the batch sampler {type(sampler).__name__} may keep count of batches, and workers fetch ahead"
        return ""

    def _more(self, given: Given, asked: int | None) -> Plan | None:
        before = given.get("num_workers")
        count = USUAL if asked is None else asked
        reason = self._why_not(given)
        if reason or before == count or (before and asked is None):
            self.report.pass_over(reason or f"a DataLoader has num_workers={before} already")
            return None
        if not count:
            given.set(
                num_workers=0, prefetch_factor=None, persistent_workers=False, multiprocessing_context=None, timeout=0
            )
            return Plan(f"num_workers {before} → 0", {"num_workers": "0", "persistent_workers": "False"})
        values = {"num_workers": str(count)}
        given.set(num_workers=count)
        if not given.get("persistent_workers"):
            given.set(persistent_workers=True)
            values["persistent_workers"] = "True"
        if given.get("prefetch_factor") is None:
            given.set(prefetch_factor=PREFETCH)
            values["prefetch_factor"] = str(PREFETCH)
        if given.get("multiprocessing_context") is None and not forks():
            given.set(multiprocessing_context="fork")
            values["multiprocessing_context"] = '"fork"'
        rest = ", ".join(
            f"{name} {text}" for name, text in values.items() if name not in ("num_workers", "persistent_workers")
        )
        kept = ", persistent_workers" if "persistent_workers" in values else ""
        return Plan(f"num_workers {before} → {count}{', ' + rest if rest else ''}{kept}", values)


def _count(value: str) -> int:
    return USUAL if not value else int(value)


FIX = Workers
