# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: how long `torch.save` takes, and how much it writes."""

from __future__ import annotations

import os
import time
from typing import Any, Callable

from . import layout
from .agent import NAN, Agent
from .edits import calling_line
from .patches import hide


class Saves:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.guard = agent.guard(
            "checkpoints", "How long torch.save takes and what it writes is not known from here on."
        )

    def install(self) -> None:
        self.guard.patches.wrap(self.agent.torch, "save", self._around)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
            when, before = time.time_ns(), time.perf_counter_ns()
            try:
                result = original(obj, f, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if self.guard.on:
                try:
                    self._saved(f, when, time.perf_counter_ns() - before)
                except Exception as error:
                    self.guard.failed(error)
            return result

        return save

    def _saved(self, f: Any, when: int, dur_ns: int) -> None:
        agent = self.agent
        if isinstance(f, (str, os.PathLike)):
            path, size = os.fspath(f), float(os.stat(f).st_size)
        else:
            path, size = str(getattr(f, "name", "")), NAN
        text, line = agent.text(str(path)), agent.text(calling_line())
        agent.emit(layout.KIND_SAVE, ts_ns=when, dur_ns=dur_ns, a=text, b=agent.step, x=size, y=float(line))
