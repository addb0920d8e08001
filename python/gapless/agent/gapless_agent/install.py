# SPDX-License-Identifier: Apache-2.0
"""Puts the parts together: runs once, right after `import torch`."""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
from typing import Any, Callable

from . import layout
from .agent import Agent, make_agent
from .backward import Backward
from .commands import Commands
from .compile_watch import CompileWatch
from .constructors import Constructors
from .control import Control
from .device_time import DeviceTime
from .digest import Digest
from .failures import Failures
from .fixing import Fixes
from .gc_watch import GcWatch
from .items import Items
from .later import Later
from .loader import Loaders
from .memory import Memory
from .models import Models
from .optim import Optimizers
from .python_profile import PythonProfile
from .recorder import Recorder
from .roots import Roots
from .saves import Saves
from .scaler import Scalers
from .steps import Steps


class Running:
    """Every part. What a mode does not want is made but not installed."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.steps = Steps(agent)
        self.cuda = agent.torch.cuda
        self.later = Later(agent)
        self.optimizers = Optimizers(agent, self.steps)
        self.recorder = Recorder(agent)
        self.memory = Memory(agent)
        self.device_time = DeviceTime(agent, self.steps)
        self.python = PythonProfile(agent)
        self.items = Items(agent, self.python)
        self.compile_watch = CompileWatch(agent)
        self.gc_watch = GcWatch(agent)
        self.control = Control(agent)
        self.commands = Commands(self)
        self.fixes = agent.fixes = Fixes(self)
        self.digest = Digest(agent, self.optimizers)
        agent.models = Models(agent, self.optimizers)
        agent.constructors = Constructors(agent)
        agent.backward = Backward(agent, self.optimizers, self.later)
        full = agent.options.full
        roots = Roots(agent, self.steps, self.optimizers, agent.models)
        self.compile_watch.when_called = [roots.compiles, self.optimizers.compiles]
        self.parts: list[Any] = [self.optimizers, Loaders(agent, self.steps), roots]
        self.parts += [
            self.items,
            self.python,
            self.memory,
            agent.backward,
            self.recorder,
        ]
        self.parts += [Scalers(agent, self.steps, self.optimizers, self.later), Failures(agent), self.commands]
        self.parts += [self.compile_watch]
        if full:
            self.parts += [self.device_time, self.gc_watch, Saves(agent)]
        self.parts += [agent.models, self.digest, self.fixes]  # fixes last: what they wrap is complete
        self.resets: list[Any] = [agent, self.steps, self.later, self.control]

    def install(self) -> None:
        for part in self.parts:
            part.install()
        self.steps.follow = self._follow
        os.register_at_fork(after_in_child=self.after_fork)
        atexit.register(self.agent.at_end)
        multiprocessing.util.register_after_fork(self, Running.watch_child_end)

    # Between two steps the program has filled the caches with its own data, so every function that is entered here costs ten times
    # what it costs in a loop, and so does every object that is looked at: a part that has something to do sets `agent.attention`.

    def _follow(self, step: int) -> None:
        agent, recorder = self.agent, self.recorder
        agent.attention = False
        on_gpu = self.cuda.is_initialized()
        if on_gpu:
            if agent.options.full:
                self.device_time.at_step(step)
            self.memory.at_step(step)
        self.control.at_step(step)
        if self.later.waiting:
            self.later.at_step(step)
        if self.compile_watch.called and agent.options.full:
            self.compile_watch.at_step(step)
        if self.gc_watch.seen:
            self.gc_watch.at_step(step)
        if recorder.windows or recorder.mark is not None:
            recorder.at_step(step)
        if self.commands.stop_at is not None:
            self.commands.at_step(step)
        if self.fixes.busy:
            self.fixes.begins(step)
        if self.digest.due:
            self.digest.at_step(step)
        agent.attention = bool(
            agent.attention or on_gpu or self.control.due or self.later.waiting or self.compile_watch.called
            or recorder.windows or recorder.mark is not None or self.commands.stop_at is not None or self.fixes.busy
            or self.digest.due
        )  # fmt: skip

    def after_fork(self) -> None:
        """The child is a process of its own: a ring, steps and a schedule of its own; the hooks are there already."""
        try:
            for part in [*self.resets, *self.parts]:
                reset: Callable[[], None] | None = getattr(part, "reset", None)
                if reset is not None:
                    reset()
        except Exception as error:
            self.agent.fail(error)

    def watch_child_end(self) -> None:
        """A child of multiprocessing leaves without atexit, but runs its finalizers."""
        multiprocessing.util.Finalize(None, self.agent.at_end, exitpriority=100)


running: Running | None = None


def install(torch: Any) -> None:
    global running
    agent = make_agent(torch)
    if agent is None or running is not None:
        return
    made = Running(agent)
    try:
        made.install()
        running = made
    except Exception as error:
        agent.message(layout.ERROR, "a hook does not fit this version of torch")
        agent.fail(error)
