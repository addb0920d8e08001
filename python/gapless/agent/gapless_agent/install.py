# SPDX-License-Identifier: Apache-2.0
"""Puts the parts together: runs once, right after `import torch`."""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable

from . import hooks, layout
from .agent import Agent, make_agent
from .backward import Backward
from .by_hand import ByHand
from .commands import Commands
from .compile_watch import CompileWatch
from .constructors import Constructors
from .control import Control
from .device_time import DeviceTime
from .digest import Digest
from .failures import Failures
from .fixing import Fixes
from .gc_watch import GcWatch
from .hook import Hook, Parts
from .items import Items
from .later import Later
from .loader import Loaders
from .made import Made
from .memory import Memory
from .models import Models
from .optim import Optimizers
from .python_profile import PythonProfile
from .recorder import Recorder
from .reports import Reports
from .roots import Roots
from .scaler import Scalers
from .steps import Steps

if TYPE_CHECKING:
    from .fix import Tools
    from .loader_switch import LoaderSwitch


class Running:
    """Every part. What a mode does not want is made but not installed."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.steps = Steps(agent)
        self.cuda = agent.torch.cuda
        self.later = Later(agent)
        self.made = Made(agent)
        self.optimizers = Optimizers(agent, self.steps, self.made)
        self.recorder = Recorder(agent)
        self.memory = Memory(agent)
        self.device_time = DeviceTime(agent, self.steps)
        self.python = PythonProfile(agent)
        self.items = Items(agent, self.python)
        self.compile_watch = CompileWatch(agent)
        self.gc_watch = GcWatch(agent)
        self.control = Control(agent)
        self.reports = Reports(agent, self.optimizers)
        self.fixes = Fixes(agent, self.reports, self._tools)
        self.commands = Commands(agent, self.control, self.recorder, self.fixes, self.memory, self.python)
        self.digest = Digest(agent, self.optimizers)
        self.models = Models(agent, self.optimizers, self.reports)
        self.constructors = Constructors(agent, self.reports)
        self.backward = Backward(agent, self.optimizers, self.later)
        self.by_hand = ByHand(agent, self.steps, self.optimizers, self.backward)
        self.loader_switch: LoaderSwitch | None = None
        self.hooks: list[Hook] = []
        self.parts: list[Any] = [*self._first(), *self._with_others(), *self._last()]
        self.following = threading.Lock()
        self.resets: list[Any] = [self.steps, self.later, self.control]

    def _first(self) -> Iterator[Any]:
        """In this order: of two parts that wrap one function, the later one lies around the earlier one."""
        agent, steps = self.agent, self.steps
        self.roots = roots = Roots(agent, steps, self.optimizers, self.models)
        self.compile_watch.when_called = [roots.compiles, self.by_hand.compiles, self.optimizers.compiles]
        loaders = Loaders(agent, steps, self.made)
        yield from (self.made, self.optimizers, loaders, roots)
        if agent.options.switch_loaders:
            from .loader_switch import LoaderSwitch  # most processes do without

            self.loader_switch = LoaderSwitch(agent, loaders, self.reports, _switched)
            yield self.loader_switch
        yield from (self.items, self.python, self.memory, self.backward, self.by_hand, self.recorder)

    def _with_others(self) -> Iterator[Any]:
        agent, optimizers = self.agent, self.optimizers
        self.scalers = Scalers(agent, self.steps, optimizers, self.later, self.backward)
        yield from (self.scalers, Failures(agent), self.commands, self.compile_watch)
        if agent.options.full:
            yield from (self.device_time, self.gc_watch)
        parts = Parts(agent, self.steps, self.later, optimizers, self.backward, self.by_hand)
        self.hooks = [kind(parts) for kind in hooks.kinds() if agent.options.full or not kind.full]
        yield from self.hooks

    def _last(self) -> Iterator[Any]:
        agent, optimizers = self.agent, self.optimizers
        if agent.options.step_function:
            from .step_function import StepFunction  # most processes do without

            yield StepFunction(agent, self.steps, optimizers)
        yield from (self.models, self.digest, self.fixes)  # fixes late: what they wrap is complete
        if agent.options.parity.role and agent.options.calls:
            from .parity.outputs import Outputs  # most processes do without

            yield Outputs(agent, self.roots)
        elif agent.options.parity.role:
            from .parity.watch import Watch  # most processes do without

            yield Watch(agent, optimizers, self.backward, self.by_hand, self.scalers)

    def _tools(self) -> Tools:
        from .fix import Tools  # most processes do without

        return Tools(
            self.agent, self.reports, self.optimizers, self.models, self.constructors, self.backward, self.loader_switch
        )

    def install(self) -> None:
        self.agent.installing = True
        for part in self.parts:
            try:
                part.install()
            except Exception as error:  # this version of torch is not as the hook expects it
                part.guard.failed(error)
        self.agent.installing = False
        self.steps.follow = self._follow
        os.register_at_fork(after_in_child=self.after_fork)
        atexit.register(self.agent.at_end)
        multiprocessing.util.register_after_fork(self, Running.watch_child_end)

    # Between two steps the program has filled the caches with its own data, so every function that is entered here costs ten times
    # what it costs in a loop, and so does every object that is looked at: a part that has something to do sets `agent.attention`.

    def _follow(self, step: int) -> None:
        if self.following.acquire(blocking=False):  # where several threads train, one of them at a time
            try:
                self._follow_alone(step)
            finally:
                self.following.release()

    def _follow_alone(self, step: int) -> None:
        agent, recorder = self.agent, self.recorder
        agent.attention = False
        on_gpu = self.cuda.is_initialized()
        for part in self._due(on_gpu):
            try:
                part.at_step(step)
            except Exception as error:
                part.guard.failed(error)
        agent.attention = bool(
            agent.attention or on_gpu or self.control.due or self.later.waiting or self.compile_watch.called
            or recorder.windows or recorder.mark is not None or self.commands.stop_at is not None or self.fixes.busy
            or self.digest.due
        )  # fmt: skip

    def _due(self, on_gpu: bool) -> Iterator[Any]:
        """The parts that have something to do, each asked when its turn comes: a command may give work to those behind it."""
        full, recorder = self.agent.options.full, self.recorder
        if on_gpu and full and self.device_time.guard.on:
            yield self.device_time
        if on_gpu and self.memory.guard.on:
            yield self.memory
        if self.control.guard.on:
            yield self.control
        if self.later.waiting and self.later.guard.on:
            yield self.later
        if self.compile_watch.called and full and self.compile_watch.guard.on:
            yield self.compile_watch
        if self.gc_watch.seen and self.gc_watch.guard.on:
            yield self.gc_watch
        if recorder.windows or recorder.mark is not None:
            yield recorder
        if self.commands.stop_at is not None:
            yield self.commands
        for hook in self.hooks:
            if hook.busy and hook.guard.on:
                yield hook
        if self.fixes.busy and self.fixes.guard.on:
            yield self.fixes.turn
        if self.digest.due:
            yield self.digest

    def after_fork(self) -> None:
        """The child is a process of its own: a ring, steps and a schedule of its own; the hooks are there already."""
        self.following = threading.Lock()
        try:
            self.agent.reset()
        except Exception as error:
            self.agent.fail(error)
        for part in [*self.resets, *self.parts]:
            reset: Callable[[], None] | None = getattr(part, "reset", None)
            try:
                if reset is not None:
                    reset()
            except Exception as error:
                part.guard.failed(error)

    def watch_child_end(self) -> None:
        """A child of multiprocessing leaves without atexit, but runs its finalizers."""
        multiprocessing.util.Finalize(None, self.agent.at_end, exitpriority=100)


def _switched(switch: LoaderSwitch, loader: Any) -> Any:
    """Only where it is needed: it looks into torch's own iterators, which a version may have changed."""
    from .switched_iterator import make_iterator

    return make_iterator(switch, loader)


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
