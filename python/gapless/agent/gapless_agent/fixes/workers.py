# SPDX-License-Identifier: Apache-2.0
"""Processes load the batches beside the training: `num_workers`, kept alive from epoch to epoch.

Without a number only loaders that have no workers get some (4). Batches come in the same order; numbers drawn inside of a dataset
come from the workers' generators instead of the program's. Between two steps workers are exchanged where loader_switch.py can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _loader
from ._devices import number

if TYPE_CHECKING:
    from ..agent import Agent
    from ..constructors import Given, Plan

LIVE = True
USUAL = 4
PREFETCH = 4


def why_not(agent: Agent, value: str) -> str:
    if value and number(value, 0) is None:
        return f"{value!r} is no number of workers"
    return _loader.why_same(agent, lambda own: own.workers == _count(value), f"num_workers={value} already")


def cannot_switch(agent: Agent) -> str:
    was_asked = agent.loader_switch is not None and agent.loader_switch.workers is None
    return _loader.cannot_switch(agent, "workers", was_asked)


def on(agent: Agent, value: str) -> str:
    if agent.step:
        return _loader.switch(agent, workers=_count(value))
    _loader.change(agent, "workers", lambda given: _more(agent, given, number(value, 0)))
    return ""


def off(agent: Agent) -> str:
    return _loader.switch(agent, workers=None)


def nothing(agent: Agent) -> str:
    return _loader.NO_LOADER


def _count(value: str) -> int:
    return USUAL if not value else int(value)


def _why_not(agent: Agent, given: Given) -> str:
    from torch.utils.data import BatchSampler

    sampler = given.get("batch_sampler")
    if _loader.is_iterable(given):
        return "the dataset is an IterableDataset: each worker would read all of it"
    if _loader.holds_cuda(agent.torch, given.get("dataset")):
        return "the dataset holds tensors on a GPU, which workers cannot read"
    if sampler is not None and type(sampler) is not BatchSampler:
        return f"the batch sampler {type(sampler).__name__} may keep count of batches, and workers fetch ahead"
    return ""


def _more(agent: Agent, given: Given, asked: int | None) -> Plan | None:
    from ..constructors import Plan

    before = given.get("num_workers")
    count = USUAL if asked is None else asked
    reason = _why_not(agent, given)
    if reason or before == count or (before and asked is None):
        agent.fixes.pass_over("workers", reason or f"a DataLoader has num_workers={before} already")
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
    if given.get("multiprocessing_context") is None and not _loader.forks():
        given.set(multiprocessing_context="fork")
        values["multiprocessing_context"] = '"fork"'
    rest = ", ".join(
        f"{name} {text}" for name, text in values.items() if name not in ("num_workers", "persistent_workers")
    )
    kept = ", persistent_workers" if "persistent_workers" in values else ""
    return Plan(f"num_workers {before} → {count}{', ' + rest if rest else ''}{kept}", values)
