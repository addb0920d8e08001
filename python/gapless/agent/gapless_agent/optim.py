# SPDX-License-Identifier: Apache-2.0
"""Optimisers: torch's own global hooks tell when one stepped; its constructor tells that one exists."""

from __future__ import annotations

import time
import weakref
from typing import Any, Callable

from . import layout
from .agent import Agent
from .patches import hide
from .steps import Steps


class Optimizers:
    def __init__(self, agent: Agent, steps: Steps) -> None:
        self.agent, self.steps = agent, steps
        self.when_made: list[Callable[[], None]] = []
        self.fires: dict[int, int] = {}  # by optimiser: when it stepped last, but for the sole one
        self.after = steps.after_optimizer(self._stepped)
        self.reset()

    def reset(self) -> None:
        self.alive: dict[int, Any] = {}
        self.fires.clear()
        self.made_any = False
        self.seen = 0

    def install(self) -> None:
        from torch.optim.optimizer import Optimizer

        self.handles: list[Any] = []
        self.register(lambda hook: hook)
        self.agent.patches.wrap(Optimizer, "__init__", self._around_init)

    def register(self, wrapped: Callable[[Any], Any]) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        for handle in self.handles:
            handle.remove()
        self.handles = [register_optimizer_step_post_hook(wrapped(self.after))]

    def _around_init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if self.agent.on:
                try:
                    self._made(self_)
                except Exception as error:
                    self.agent.fail(error)

        return __init__

    def _made(self, optimizer: Any) -> None:
        source = id(optimizer)
        self.made_any = True
        self.alive[source] = weakref.ref(optimizer, lambda _: self._gone(source))
        for follower in self.when_made:
            follower()
        self.steps.source_made(source)
        self._hook_again(type(optimizer))

    def compiles(self, _model: Any) -> None:
        """torch.compile was called, which loads its compiler."""
        for reference in list(self.alive.values()):
            optimizer = reference()
            if optimizer is not None:
                self._hook_again(type(optimizer))

    def _hook_again(self, kind: Any) -> None:
        """The compiler of old versions takes torch's hooks off the optimisers, for good: then `step` is wrapped here."""
        step = kind.step
        if getattr(step, "hooked", False) and not hasattr(step, "__wrapped__"):
            self.agent.patches.wrap(kind, "step", self._around_step)

    def _around_step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def step(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                result = original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            self.after(self_, args, kwargs)
            return result

        return step

    def _gone(self, source: int) -> None:
        if self.agent.sole == source:
            self.agent.sole = 0
        self.fires.pop(source, None)
        self.alive.pop(source, None)
        if self.agent.on:
            self.steps.source_gone(source)

    def _stepped(self, optimizer: Any) -> None:
        agent, steps, source = self.agent, self.steps, id(optimizer)
        if source not in self.fires:
            self._seen(optimizer)
        self.when_fired()[source] = now = time.perf_counter_ns()
        steps.fired(source)
        if source == steps.marker and not steps.kept:
            agent.sole, agent.fired_ns = source, now

    def when_fired(self) -> dict[int, int]:
        """By optimiser: when it stepped last."""
        agent = self.agent
        if agent.sole:
            self.fires[agent.sole] = agent.fired_ns
        return self.fires

    def _seen(self, optimizer: Any) -> None:
        """The first step of an optimiser: what it is."""
        number = self.seen
        self.seen += 1
        parameters = 0
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameters += parameter.numel()
        settings = {
            name: value
            for name, value in optimizer.defaults.items()
            if isinstance(value, (bool, int, float, str, tuple, type(None)))
        }
        tensors = sum(len(group["params"]) for group in optimizer.param_groups)
        about: dict[str, Any] = {
            "class": type(optimizer).__name__,
            "module": type(optimizer).__module__,
            "settings": settings,
        }
        about["tensors"] = tensors
        self.agent.emit(layout.KIND_OPTIMIZER, value=min(parameters, 0x7FFFFFFF), a=self.agent.json(about), b=number)
