# SPDX-License-Identifier: Apache-2.0
"""The iterator that a DataLoader hands out where its workers can be exchanged; see loader_switch.py.

It is torch's iterator without workers, with the indices of the epoch in a stream of ours. Where workers load, they belong to a second
iterator of torch, which takes its indices from that stream. A change ends it: indices that it had and did not deliver go back to the
stream, so that no sample is lost, none comes twice, and the order stays. A worker begins with an empty queue.

The iterator works without any patch of ours, so that an epoch ends well after the agent has switched itself off.
"""

from __future__ import annotations

import os
import weakref
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.data import _utils
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter

from .index_stream import IndexStream
from .loader_switch import LoaderSwitch, Setting, end, forks
from .patches import hide

_LEFT: list[Any] = []  # workers of a parent process: a child must not end them, so it never frees them


def make_iterator(switch: LoaderSwitch, loader: Any) -> SwitchedIterator:
    own = Setting()
    if loader.num_workers:
        own = Setting(loader.num_workers, loader.prefetch_factor, loader.persistent_workers)
    switch.own[switch.loaders.number_of(loader)] = own
    return SwitchedIterator(switch, loader, own)


def _view(loader: Any, **different: Any) -> SimpleNamespace:
    """Returns the attributes that torch's iterators read, without the loader: whoever holds the iterator must not keep it alive."""
    about = {
        name: value
        for name, value in vars(loader).items()
        if not name.startswith("_DataLoader") and name != "_iterator"
    }
    about.update(_auto_collation=True, _index_sampler=loader.batch_sampler)
    about.update(multiprocessing_context=loader.multiprocessing_context)
    about.update(different)
    return SimpleNamespace(**about)


class _Workers(_MultiProcessingDataLoaderIter):  # type: ignore[misc,unused-ignore]
    """Workers with the seed that the program's own would have."""

    def __init__(self, view: Any, seed: int) -> None:
        self._seed = seed
        super().__init__(view)

    @property
    def _base_seed(self) -> int:
        return self._seed

    @_base_seed.setter
    def _base_seed(self, drawn: int) -> None:
        """torch draws another one, from a generator of ours."""

    def say_nothing_of_deaths(self) -> None:
        """torch raises an error wherever the program is when a worker is killed; here it shows when its batch is waited for."""
        _utils.signal_handling._remove_worker_pids(id(self))
        self._worker_pids_set = False


class SwitchedIterator(_SingleProcessDataLoaderIter):  # type: ignore[misc,unused-ignore]
    _sampler_iter: Any

    def __init__(self, switch: LoaderSwitch, loader: Any, own: Setting) -> None:
        self._switch, self._own = switch, own
        self._loader = weakref.ref(loader)
        self._process = os.getpid()
        self._setting, self._iterator, self._changes = Setting(), None, 0
        self._view = _view(loader)
        super().__init__(_view(loader, num_workers=0, timeout=0, persistent_workers=False))
        self._num_workers = own.workers
        kind = (_MultiProcessingDataLoaderIter if own.workers else _SingleProcessDataLoaderIter).__name__
        self._profile_name = f"enumerate(DataLoader)#{kind}.__next__"
        self._begin()

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """The next epoch of a loader with persistent workers."""
        self._rest()
        super()._reset(loader, first_iter)
        self._begin()

    def _begin(self) -> None:
        """The epoch begins: workers start at once, as torch's do."""
        self._stream = self._sampler_iter = IndexStream(self._sampler_iter)
        self._over = False
        self._change(self._switch.setting(self._own))

    # Batches.

    def _next_data(self) -> Any:
        try:
            if self._over:
                raise StopIteration
            wanted = self._switch.setting(self._own)
            if wanted != self._setting:
                self._change(wanted)
            return self._load_here() if self._iterator is None else self._load_by(self._iterator)
        except BaseException as error:
            hide(error)
            raise

    def _load_here(self) -> Any:
        try:
            return super()._next_data()
        except StopIteration:
            self._rest()
            raise
        finally:
            self._stream.delivered()

    def _load_by(self, workers: Any) -> Any:
        before = workers._rcvd_idx
        failed: Exception | None = None
        try:
            return workers._next_data()
        except StopIteration:
            if self._stream.error is not None:
                raise self._stream.take_error() from None
            self._rest()
            raise
        except Exception as error:
            if workers._rcvd_idx != before or self._setting == self._own:
                raise  # an error of the dataset, or what the program's own workers raise
            failed = error
        finally:
            self._stream.delivered(workers._rcvd_idx - before)
        self._switch.failed(failed)
        return self._next_data()

    # Changes.

    def _change(self, wanted: Setting) -> None:
        self._end_workers()
        if wanted.workers:
            try:
                self._iterator = self._start(wanted)
            except Exception as error:
                self._stream.take_back()
                if wanted == self._own:
                    raise
                self._switch.failed(error)
                wanted = self._switch.setting(self._own)
                self._iterator = self._start(wanted) if wanted.workers else None
        self._setting = wanted
        self._stream.ahead = wanted.workers > 0

    def _end_workers(self) -> None:
        workers, self._iterator = self._iterator, None
        if workers is not None:
            end(workers)
            self._stream.take_back()

    def _start(self, setting: Setting) -> Any:
        self._stream.ahead = True
        kept = self._switch.take(self._loader(), setting)
        if kept is not None:
            kept._index_sampler = self._stream
            kept._reset(self._view)
            return kept
        view, own = self._view, self._own
        different: dict[str, Any] = {"num_workers": setting.workers, "prefetch_factor": setting.prefetch}
        different.update(
            persistent_workers=setting.persistent, _index_sampler=self._stream, generator=torch.Generator()
        )
        if not own.workers and not forks():
            different["multiprocessing_context"] = torch.multiprocessing.get_context("fork")
        self._changes += 1
        workers = _Workers(SimpleNamespace(**{**vars(view), **different}), self._base_seed + self._changes - 1)
        if setting.workers != own.workers:
            workers.say_nothing_of_deaths()
        return workers

    def _rest(self) -> None:
        """The epoch is over, or the program reads no further: workers that outlive it wait for the next one."""
        self._over = True
        workers, self._iterator = self._iterator, None
        setting, self._setting = self._setting, Setting()
        if workers is None:
            return
        if self._process != os.getpid():
            _LEFT.append(workers)
        elif setting.persistent:
            self._switch.keep(self._loader(), self._own, setting, workers)

    def __del__(self) -> None:
        try:
            if _utils is not None and not _utils.python_exit_status:
                self._rest()
        except Exception as error:  # it was not made to its end
            hide(error)
