# SPDX-License-Identifier: Apache-2.0
"""Finds the settings that load a dataset fastest, by trying them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from typing import Any

from .host import cores
from .progress import say, shown

WORKERS = (0, 2, 4, 8, 16)
PREFETCH = 4
BATCHES, SECONDS = 64, 4.0  # of one measurement, whichever comes first
# The arguments of DataLoader that may be in a configuration; other keys of it are not for the loader.
SETTINGS = (
    "num_workers", "pin_memory", "prefetch_factor", "persistent_workers", "shuffle", "drop_last", "collate_fn", "sampler",
    "worker_init_fn", "generator", "timeout", "multiprocessing_context",
)  # fmt: skip
NEARLY = 0.95  # of the best rate: then the fewest workers that reach it are enough


class DataLoadingOptimizer:
    """The fastest settings of a DataLoader, by trying them.

    >>> DataLoadingOptimizer().optimize_dataloader(dataset, 32, {"num_workers": 0})  # doctest: +SKIP
    {'num_workers': 8, 'pin_memory': True, 'prefetch_factor': 4, 'persistent_workers': True, 'estimated_speedup': 1.4, …}
    """

    def optimize_dataloader(
        self, dataset: Any, batch_size: int, current_config: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Loads batches with 0, 2, 4, 8 and 16 workers, and with `current_config`.

        More workers than the machine has cores are tried while they load faster: that is so where a dataset waits, for a
        disk or a network, rather than computes.
        `current_config` has arguments of `DataLoader`; other keys of it are left alone. The answer has `num_workers`, `pin_memory`, `prefetch_factor` and
        `persistent_workers` for `DataLoader(dataset, batch_size, **…)` (the latter two are None and False without workers),
        `estimated_speedup` of loading (not of a step, which may wait for other things), and `measured`: batches a second by number of
        workers. Memory is pinned where there is a GPU. Samples are loaded, and thrown away.
        """
        given = dict(current_config or {})
        present, is_climbing = int(given.get("num_workers") or 0), True
        measured: dict[int, float] = {}
        for count in sorted({present, *WORKERS}):
            before = max(measured.values(), default=0.0)
            if count <= max(cores(), present) or is_climbing:
                with shown():
                    say(f"loading with {count} workers")
                    measured[count] = _rate(dataset, batch_size, _settings(count, given, present))
                is_climbing = measured[count] * NEARLY > before
        counts, most = list(measured), max(measured.values())
        best = present if measured[present] >= NEARLY * most else min(n for n in counts if measured[n] >= NEARLY * most)
        chosen = _settings(best, given, present)
        return {
            "num_workers": best,
            "pin_memory": chosen["pin_memory"],
            "prefetch_factor": chosen.get("prefetch_factor"),
            "persistent_workers": chosen.get("persistent_workers", False),
            "estimated_speedup": measured[best] / measured[present],
            "measured": measured,
        }


def _settings(count: int, given: Mapping[str, Any], present: int) -> dict[str, Any]:
    """Returns the given arguments of DataLoader with the number of workers replaced."""
    import torch

    left = {name: value for name, value in given.items() if name in SETTINGS}
    kept = left if count == present else {}
    left.update(num_workers=count, pin_memory=bool(kept.get("pin_memory")) or torch.cuda.is_available())
    for name in ("prefetch_factor", "persistent_workers"):
        left.pop(name, None)
    if count:
        prefetch = kept.get("prefetch_factor")
        left.update(prefetch_factor=PREFETCH if prefetch is None else prefetch, persistent_workers=True)
    return left


def _rate(dataset: Any, batch_size: int, settings: dict[str, Any]) -> float:
    """Batches a second, from the first batch on: starting workers is paid once. What fills the queue first is loaded, not timed."""
    from torch.utils.data import DataLoader

    loader = DataLoader(dataset, batch_size=batch_size, **settings)
    ahead = settings["num_workers"] * settings.get("prefetch_factor", 0)
    batches = _endless(loader)
    for _ in range(1 + ahead):
        if next(batches, None) is None:
            raise ValueError("the dataset has no batch")
    started = time.perf_counter()
    count = 0
    for _ in itertools.islice(batches, max(BATCHES, 2 * ahead)):
        count += 1
        if time.perf_counter() - started > SECONDS:
            break
    return count / (time.perf_counter() - started)


def _endless(loader: Any) -> Iterator[Any]:
    while True:
        given = 0
        for batch in loader:
            given += 1
            yield batch
        if not given:
            return
