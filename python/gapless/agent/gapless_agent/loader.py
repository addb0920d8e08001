# SPDX-License-Identifier: Apache-2.0
"""DataLoaders: how long the program waits for each batch, and how many samples are in it.

Only waits of the thread that trains count: a batch that another thread fetches ahead delays nobody here.
"""

from __future__ import annotations

import time
from typing import Any, Callable

from . import layout
from .context import Context
from .counts import NAN
from .edits import consuming_line
from .made import Made
from .patches import hide
from .steps import Steps


class Loaders:
    def __init__(self, context: Context, steps: Steps, made: Made) -> None:
        self.context, self.steps, self.made = context, steps, made
        self.guard = context.guard(
            "DataLoaders", "How long steps wait for batches and how many samples they have is not known from here on.",
            "counts_batches",
        )  # fmt: skip
        self.guard.let_go.append(self._unknown)
        self.reset()

    def reset(self) -> None:
        self.numbers: dict[int, int] = {}

    def install(self) -> None:
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        self.guard.patches.wrap(_BaseDataLoaderIter, "__init__", self._around_init)
        self.guard.patches.wrap(_BaseDataLoaderIter, "__next__", self._around_next)

    def _unknown(self) -> None:
        context = self.context
        context.in_loader, context.wait_ns = False, NAN  # absent, not 0
        context.samples_unknown += 1

    def _around_init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self_: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(self_, loader, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if self.guard.on:
                try:
                    self_._gapless_loader = self.number_of(loader)
                    self.steps.begin()
                except Exception as error:
                    self.guard.failed(error)

        return __init__

    def number_of(self, loader: Any) -> int:
        own: dict[str, Any] = getattr(loader, "__dict__", {})
        number: int | None = own.get("_gapless_loader")
        if number is None:
            number = len(self.numbers)
            self.numbers[number] = number
            own["_gapless_loader"] = number
            context = self.context
            read, about = consuming_line(), settings_of(loader)
            about.update(line=self.made.line_of(loader), read=read)
            settings, line = context.json(about), context.text(read)
            workers = getattr(loader, "num_workers", 0)
            workers = workers if isinstance(workers, int) else 0
            context.emit(layout.KIND_LOADER, value=workers, a=settings, b=number, x=float(line))
        return number

    def _around_next(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context, other = self.context, self._look

        def __next__(self_: Any) -> Any:
            if not context.counts_batches or context.in_loader or context.thread() != context.main_thread:
                try:
                    return original(self_)
                except BaseException as error:
                    hide(error)
                    raise
            context.in_loader = True
            before = context.clock()
            try:
                batch = original(self_)
            except BaseException as error:
                hide(error)
                raise
            finally:
                context.in_loader = False
            after = context.clock()
            wait_ns = after - before
            # Counts the usual batch, a list that begins with a tensor, without a call.
            kind = context.kind
            shape = (
                batch[0].shape if kind(batch) is context.plain and batch and kind(batch[0]) is context.tensor else None
            )
            if shape and wait_ns < context.long_wait_ns:
                context.samples += shape[0]
            else:
                other(self_, batch, wait_ns)
            context.wait_ns += wait_ns
            context.hook_calls += 1
            context.cost_ns += context.clock() - after + context.call_ns
            return batch

        return __next__

    def _look(self, iterator: Any, batch: Any, wait_ns: int) -> None:
        """A batch that is not a list of tensors, or one that was waited for."""
        context = self.context
        try:
            count = samples_in(batch)
            if count is None:
                context.samples_unknown += 1
            else:
                context.samples += count
            if wait_ns >= context.long_wait_ns:
                self._waited_long(iterator, wait_ns)
        except Exception as error:
            self.guard.failed(error)

    def _waited_long(self, iterator: Any, wait_ns: int) -> None:
        number, context = getattr(iterator, "_gapless_loader", layout.NONE), self.context
        context.emit(layout.KIND_WAIT, ts_ns=time.time_ns() - wait_ns, dur_ns=wait_ns, a=number, b=context.step)


def samples_in(batch: Any) -> int | None:
    """The first dimension of a plain batch: a tensor, or the first tensor of a sequence or mapping."""
    try:
        for _ in range(3):
            shape = getattr(batch, "shape", None)
            if shape is not None:
                return int(shape[0]) if len(shape) else None
            if isinstance(batch, (list, tuple)) and batch:
                batch = batch[0]
            elif hasattr(batch, "values") and hasattr(batch, "keys"):
                batch = next(iter(batch.values()), None)
            else:
                return None
    except Exception:  # an object of the program that answers in its own way
        return None
    return None


def settings_of(loader: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"dataset": type(getattr(loader, "dataset", None)).__name__}
    names = ("batch_size", "num_workers", "pin_memory", "prefetch_factor", "persistent_workers", "drop_last", "timeout")
    for name in names:
        about[name] = getattr(loader, name, None)
    about["sampler"] = type(getattr(loader, "sampler", None)).__name__
    try:
        about["samples"] = len(loader.dataset)
    except Exception:
        about["samples"] = None
    return about
