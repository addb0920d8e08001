# SPDX-License-Identifier: Apache-2.0
"""Workers of DataLoaders that can be exchanged between two steps of a running program (option `switch_loaders`).

The problem: how a DataLoader loads is decided when it is made and when an epoch begins, so each setting would need a process of its
own to be measured. The way: a DataLoader of torch's own class hands out an iterator of ours (switched_iterator.py), which draws the
indices of the epoch once and has them loaded by the program itself or by workers. At each batch it asks here which of the two it shall
be. Only plain DataLoaders over map-style datasets are made so; all others stay as the program made them.

Workers outlive an epoch where the setting says so. Between two epochs they are kept here, by their loader.
"""

from __future__ import annotations

import multiprocessing
import sys
import weakref
from typing import Any, Callable, NamedTuple

from .context import Context
from .guard import describe
from .loader import Loaders
from .patches import hide
from .reports import Reports

PREFETCH = 4  # batches that each worker loads ahead, in a program that had no workers


class Setting(NamedTuple):
    workers: int = 0
    prefetch: int = 0  # batches a worker loads ahead; 0 without workers
    persistent: bool = False  # workers outlive the epoch


class LoaderSwitch:
    def __init__(
        self, context: Context, loaders: Loaders, reports: Reports, iterator: Callable[[LoaderSwitch, Any], Any]
    ) -> None:
        """`iterator` makes the one that a loader hands out."""
        self.context, self.loaders, self.reports, self.iterator = context, loaders, reports, iterator
        self.guard = context.guard(
            "the DataLoaders whose workers can be exchanged",
            "From the next epoch on they load as the program made them.",
        )
        self.workers: int | None = None  # wanted; none: as the program made the loader
        self.prefetch: int | None = None
        self.own: dict[int, Setting] = {}  # by the loader's number: as the program made it
        self.reasons: list[str] = []  # why a loader stays as it is
        self.broken = ""  # why no setting can be changed any more
        self.reset()

    def reset(self) -> None:
        """In the child after a fork: workers of the parent are never ended from here, so that they are not freed either."""
        self.of_parent = list(getattr(self, "idle", {}).values())
        self.idle: weakref.WeakKeyDictionary[Any, tuple[Setting, Setting, Any]] = weakref.WeakKeyDictionary()

    def install(self) -> None:
        from torch.utils.data import DataLoader

        self.guard.patches.wrap(DataLoader, "_get_iterator", self._around_get_iterator)

    # Iterators.

    def _around_get_iterator(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _get_iterator(self_: Any) -> Any:
            try:
                made = self._make(self_) if self.guard.on else None
                return original(self_) if made is None else made
            except BaseException as error:
                hide(error)
                raise

        return _get_iterator

    def _make(self, loader: Any) -> Any | None:
        """An iterator of ours; none where the loader has to stay as it is. Random numbers are drawn as without us."""
        torch = self.context.torch
        generator = getattr(loader, "generator", None)
        before = torch.get_rng_state() if generator is None else generator.get_state()
        try:
            reason = _why_not(torch, loader)
            if reason:
                if reason not in self.reasons:
                    self.reasons.append(reason)
                return None
            return self.iterator(self, loader)
        except Exception as error:
            (torch.set_rng_state if generator is None else generator.set_state)(before)
            self.guard.failed(error)
            return None

    # Settings.

    def setting(self, own: Setting) -> Setting:
        """Returns how a loader with the program's setting `own` is to load now."""
        workers = own.workers if self.workers is None else self.workers
        if not workers:
            return Setting()
        return Setting(workers, self.prefetch or own.prefetch or PREFETCH, own.persistent or self.workers is not None)

    def want(self, *, workers: int | None = None, prefetch: int | None = None) -> None:
        """Loaders change to this at their next batch; none: as the program made them."""
        self.workers, self.prefetch = workers, prefetch
        for loader, (own, setting, iterator) in list(self.idle.items()):
            if setting != self.setting(own):
                del self.idle[loader]
                end(iterator)

    def why_not(self) -> str:
        """Returns why the workers of this program cannot be exchanged; "" when they can."""
        if self.broken or self.own:
            return self.broken
        return "; ".join(self.reasons) or "no DataLoader has been read from yet"

    def failed(self, error: BaseException) -> None:
        """Workers that the program did not ask for failed: its own setting is back, and stays."""
        self.broken = f"its workers failed: {describe(error)}"
        names = [
            name for name, value in (("workers", self.workers), ("prefetch_factor", self.prefetch)) if value is not None
        ]
        self.want()
        for name in names:
            self.reports.refuse(name, self.broken)

    # Workers between two epochs.

    def keep(self, loader: Any | None, own: Setting, setting: Setting, iterator: Any) -> None:
        if loader is None or setting != self.setting(own) or loader in self.idle:
            end(iterator)
        else:
            self.idle[loader] = (own, setting, iterator)

    def take(self, loader: Any | None, setting: Setting) -> Any | None:
        """The idle workers of a loader, if they have this setting; others are ended."""
        kept = self.idle.pop(loader, None) if loader is not None else None
        if kept is None or kept[1] == setting:
            return None if kept is None else kept[2]
        end(kept[2])
        return None


def end(iterator: Any) -> None:
    """Ends the workers of an iterator, and waits for them."""
    try:
        iterator._shutdown_workers()
    except Exception as error:
        hide(error)  # a worker that is gone already; torch kills those that do not end


def _why_not(torch: Any, loader: Any) -> str:
    """Returns why a loader stays as the program made it; "" when its workers may be exchanged."""
    from torch.utils.data import BatchSampler, DataLoader, MapDataPipe

    if type(loader) is not DataLoader:
        return f"{type(loader).__name__} is not torch's DataLoader itself"
    if loader._dataset_kind != 0 or isinstance(loader.dataset, MapDataPipe):
        return "the dataset is read in its own order"
    if loader.batch_sampler is None:
        return "a DataLoader makes no batches (batch_size=None)"
    if type(loader.batch_sampler) is not BatchSampler:
        return f"the batch sampler {type(loader.batch_sampler).__name__} may keep count of batches"
    if not getattr(loader, "in_order", True):
        return "a DataLoader delivers batches out of order (in_order=False)"
    if holds_cuda(torch, loader.dataset):
        return "the dataset holds tensors on a GPU, which workers cannot read"
    return ""


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
