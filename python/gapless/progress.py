# SPDX-License-Identifier: Apache-2.0
"""Progress of a long operation: one line on a terminal, the logger `gapless` at INFO, and whoever wants to be called.

>>> import gapless, logging
>>> logging.basicConfig(level=logging.INFO)  # doctest: +SKIP
>>> with following(print):  # doctest: +SKIP
...     gapless.PerformanceValidator("metrics.db").validate_optimization(baseline, optimized, loader, "4f2a91c")
warm-up of the baseline: 10 steps
pair 1 of 24
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import sys
from collections.abc import Iterator
from typing import Callable

LOGGER = logging.getLogger("gapless")
WIDTH = 78
OnProgress = Callable[[str], None]


class _Line:
    """A line of standard error that is written over; nothing where that is no terminal, or where the logger writes there."""

    def __init__(self) -> None:
        self._shows = sys.stderr is not None and sys.stderr.isatty() and not LOGGER.isEnabledFor(logging.INFO)
        self._written = False

    def write(self, text: str) -> None:
        if self._shows:
            print(f"\r\x1b[K{text[:WIDTH]}", end="", file=sys.stderr, flush=True)
            self._written = True

    def end(self) -> None:
        if self._written:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


_line: contextvars.ContextVar[_Line | None] = contextvars.ContextVar("gapless_progress_line", default=None)
_listener: contextvars.ContextVar[OnProgress | None] = contextvars.ContextVar("gapless_progress", default=None)


@contextlib.contextmanager
def following(on_progress: OnProgress | None) -> Iterator[None]:
    """Calls `on_progress` with a sentence for each part of what is done inside; None changes nothing."""
    token = _listener.set(on_progress or _listener.get())
    try:
        yield
    finally:
        _listener.reset(token)


@contextlib.contextmanager
def shown(on_progress: OnProgress | None = None) -> Iterator[None]:
    """A long operation: the line on the terminal is gone when it ends. One inside another uses its line."""
    with following(on_progress):
        if _line.get() is not None:
            yield
            return
        line = _Line()
        token = _line.set(line)
        try:
            yield
        finally:
            _line.reset(token)
            line.end()


def say(text: str) -> None:
    """A part of a long operation begins."""
    LOGGER.info("%s", text)
    line, listener = _line.get(), _listener.get()
    if line is not None:
        line.write(text)
    if listener is not None:
        listener(text)
