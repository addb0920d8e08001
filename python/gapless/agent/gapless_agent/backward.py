# SPDX-License-Identifier: Apache-2.0
"""Backward passes: how many a step has, and the loss each started from."""

from __future__ import annotations

import time
from typing import Any, Callable

from . import layout
from .agent import Agent
from .later import Later
from .optim import Optimizers
from .patches import hide

LOSSES_PER_STEP = 8


class Backward:
    def __init__(self, agent: Agent, optimizers: Optimizers, later: Later) -> None:
        self.agent, self.optimizers, self.later = agent, optimizers, later
        self.root: Callable[[Any], None] = self._root
        self.reset()

    def reset(self) -> None:
        self.step = -1
        self.index = 0

    def install(self) -> None:
        # Tensor.backward calls torch.autograd.backward: one place for both, and Tensor stays as it is.
        self.agent.patches.wrap(self.agent.torch.autograd, "backward", self._around)

    def leave_out(self, wrapped: Callable[[Any], Any]) -> None:
        self.root = wrapped(self._root)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        agent = self.agent

        def backward(*args: Any, **kwargs: Any) -> Any:
            if agent.on:
                entered = time.perf_counter_ns()
                try:
                    self.root(args[0] if args else kwargs.get("tensors"))
                except Exception as error:
                    agent.fail(error)
                agent.hook_calls += 1
                agent.cost_ns += time.perf_counter_ns() - entered
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return backward

    def _root(self, roots: Any) -> None:
        agent = self.agent
        agent.backwards += 1
        if not agent.options.full:
            return
        if isinstance(roots, (list, tuple)):
            roots = roots[0] if len(roots) == 1 else None
        if roots is None or not isinstance(roots, agent.torch.Tensor) or roots.numel() != 1:
            return
        if self.step != agent.step:
            self.step, self.index = agent.step, 0
        index, step, when = self.index, agent.step, time.time_ns()
        self.index += 1
        if index < LOSSES_PER_STEP:
            write = agent.emit
            self.later.read(roots, lambda loss: write(layout.KIND_LOSS, ts_ns=when, a=step, b=index, x=loss))
