# SPDX-License-Identifier: Apache-2.0
"""Recording a region of a program, with the agent's own recorder: the same options, the same files."""

from __future__ import annotations

import contextlib
import functools
import os
from typing import Any, Callable, TypeVar

from .agent_path import find_agent

_active: list[profile] = []  # the regions of `%%gapless` in which `gapless.step()` marks steps
_F = TypeVar("_F", bound=Callable[..., Any])


class profile(contextlib.ContextDecorator):
    """Records what runs inside, with PyTorch's profiler, into a file below `folder`.

    As a context manager: `with gapless.profile("run") as region: ...`; `region.step()` after each step marks the steps, `region.path`
    is the file once the block has ended. As a decorator, `@gapless.profile("run")` records every call. Raises RuntimeError when a
    profiler is on already.
    """

    def __init__(self, folder: str = "run", *, shapes: bool = True, stacks: bool = True, memory: bool = False) -> None:
        self.folder = os.path.abspath(folder)
        self.recorded = {"shapes": shapes, "stacks": stacks, "memory": memory}
        self.path: str | None = None
        self.steps = 0

    def __call__(self, function: _F) -> _F:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with profile(self.folder, **self.recorded):
                return function(*args, **kwargs)

        return recorded  # type: ignore[return-value]

    def __enter__(self) -> profile:  # noqa: PYI034 -- typing.Self is newer than Python 3.9
        import torch

        find_agent()
        from gapless_agent.context import Context
        from gapless_agent.options import Options, Record
        from gapless_agent.recorder import Recorder

        if torch._C._autograd._profiler_enabled():
            raise RuntimeError("another profiler of PyTorch is already running")
        record = Record(on=True, wait=0, warmup=0, active=1 << 62, **self.recorded)
        context = Context(torch, self.folder, Options(record=record))
        context.ring_failed = True  # a region says nothing on the channel to a launcher
        self._into = (
            context.folder()
        )  # an error comes before the profiler starts: one that is left running ends the process with signal 11
        self.recorder = Recorder(context)
        self.steps = 0
        self.recorder.at_step(0)
        if self.recorder.profiler is None:
            raise RuntimeError("PyTorch's profiler cannot be started")
        return self

    def step(self) -> None:
        """A step ended here."""
        self.steps += 1
        self.recorder.at_step(self.steps)

    def __exit__(self, *_: object) -> None:
        self.recorder.at_end()
        self.path = os.path.join(self._into, self.recorder.written) if self.recorder.written else None
