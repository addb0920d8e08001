# SPDX-License-Identifier: Apache-2.0
"""One guard for each thing that is watched: an error in a hook ends that observation and leaves all others alone.

What an observation puts into the program goes through its guard: patches, and what it does when the process ends. A hook asks `on` before
it does anything, and gives what went wrong to `failed`. Hooks of every step ask a slot of `counts.py` instead (`flag`), which lies with all
else that they read. Where the record of the error cannot be written, the ring itself is broken, and the agent switches itself off.
"""

from __future__ import annotations

import contextlib
import os
from types import TracebackType
from typing import Any, Callable, Protocol

from .patches import Patches


class Process(Protocol):
    """The process as its guards see it; `context.py` is one."""

    on: bool
    ends: list[Callable[[], None]]  # what to do when the process ends, in order

    def complain(self, text: str) -> None:
        """Something is no longer watched, and the run is to say so."""


class Guard:
    def __init__(self, process: Process, what: str, lost: str, flag: str = "") -> None:
        """`what` is watched ("Gapless no longer watches …"); `lost` is a sentence: what the run lacks without it."""
        self.process, self.what, self.lost, self.flag = process, what, lost, flag
        self.on = True
        self.patches = Patches()
        self.let_go: list[Callable[[], Any]] = []  # what must not be left behind in the program

    def failed(self, error: BaseException) -> None:
        """An error of our own in this observation: it ends here, and the run says so."""
        if self.on and self.process.on:
            self.switch_off()
            self.process.complain(
                f"Gapless no longer watches {self.what}, because of an error of its own: {describe(error)}. {self.lost} "
                "The training goes on unchanged, and all else is still watched."
            )

    def switch_off(self) -> None:
        self.on = False
        if self.flag:
            setattr(self.process, self.flag, False)
        for act in (self.patches.undo, *self.let_go):
            with contextlib.suppress(Exception):  # the next one still has to
                act()

    def at_end(self, act: Callable[[], Any]) -> None:
        """`act` is called when the process ends, while the observation is on."""

        def end() -> None:
            if self.on:
                try:
                    act()
                except Exception as error:
                    self.failed(error)

        self.process.ends.append(end)


def describe(error: BaseException) -> str:
    """Returns "AttributeError: no attribute '_scale' (scaler.py:70)": type, text and the line that raised it."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "?" if trace is None else f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
    try:
        text = str(error)
    except Exception:  # it is somebody else's class
        text = "?"
    return f"{type(error).__name__}: {text} ({place})"
