# SPDX-License-Identifier: Apache-2.0
"""Optimisers: torch's own global hooks report each step of an optimiser; its constructor reports that it exists."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Iterator
from typing import Any, Callable

from . import layout
from .context import Context
from .made import Made
from .patches import after_init, hide
from .steps import Steps


class Optimizers:
    def __init__(self, context: Context, steps: Steps, made: Made) -> None:
        self.context, self.steps, self.made = context, steps, made
        self.guard = context.guard(
            "which optimisers the program makes",
            "Steps are counted as their optimisers take them; a fix that looks for them may find none.",
        )
        self.guard.let_go.append(self._assume)
        self.details = context.guard("the kinds of the optimisers", "Their classes and settings are not in the run.")
        self.when_made: list[Callable[[], None]] = []  # at each one
        self.when_known: list[Callable[[], None]] = []  # once it is clear that the program has some
        self.handles: list[Any] = []
        self.fires: dict[int, int] = {}  # by optimiser: when it stepped last, but for the sole one
        self.after = steps.after_optimizer(self._stepped)
        self.reset()

    def reset(self) -> None:
        self.alive: dict[int, Any] = {}
        self.nested: set[int] = set()  # of those, whose step may call another one that torch's hooks are on
        self.fires.clear()
        self.made_any = not self.guard.on
        self.seen = 0

    def _assume(self) -> None:
        """Optimisers are no longer seen when they are made: there may be some."""
        made_any, self.made_any = self.made_any, True
        for follower in [] if made_any else self.when_known:
            follower()

    def once_known(self, follower: Callable[[], None]) -> None:
        """Calls `follower` as soon as the program has an optimiser, or may have one that nobody sees."""
        self.when_known.append(follower)
        if self.made_any:
            follower()

    def install(self) -> None:
        from torch.optim.optimizer import Optimizer

        self.register(lambda hook: hook)
        self.guard.patches.wrap(Optimizer, "__init__", self._around_init)

    def register(self, wrapped: Callable[[Any], Any]) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        for handle in self.handles:
            handle.remove()
        self.handles = [register_optimizer_step_post_hook(wrapped(self.after))]

    def _around_init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def made(optimizer: Any) -> None:
            if self.guard.on:
                try:
                    self._made(optimizer)
                except Exception as error:
                    self.guard.failed(error)

        return after_init(original, made)

    def _made(self, optimizer: Any) -> None:
        source = id(optimizer)
        if not self.made_any:
            self._assume()
        if steps_twice(type(optimizer)):
            self.nested.add(source)
        self.alive[source] = weakref.ref(optimizer, lambda _: self._gone(source))
        self.steps.source_made(source)
        self.made.note(optimizer)
        self._hook_again(type(optimizer))
        for follower in self.when_made:
            follower()

    def compiles(self, _model: Any) -> None:
        """torch.compile was called, which loads its compiler."""
        for reference in list(self.alive.values()):
            optimizer = reference()
            if optimizer is not None:
                self._hook_again(type(optimizer))

    def _hook_again(self, kind: Any) -> None:
        """The compiler of old versions takes torch's hooks off the optimisers, for good: then `step` is wrapped here."""
        step = getattr(kind, "step", None)
        if getattr(step, "hooked", False) and not hasattr(step, "__wrapped__"):
            self.steps.guard.patches.wrap(kind, "step", self._around_step)

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
        if self.context.sole == source:
            self.context.sole = 0
        self.fires.pop(source, None)
        self.alive.pop(source, None)
        self.nested.discard(source)
        if self.context.counts_steps:
            try:
                self.steps.source_gone(source)
            except Exception as error:  # whoever drops the optimiser must not meet it
                self.steps.guard.failed(error)

    def _stepped(self, optimizer: Any) -> None:
        context, steps, source = self.context, self.steps, id(optimizer)
        if source in self.nested and is_inner(optimizer):
            return
        if source not in self.fires and self.details.on:
            try:
                self._seen(optimizer)
            except Exception as error:
                self.details.failed(error)
        self.when_fired()[source] = now = time.perf_counter_ns()
        steps.fired(source)
        if steps.is_sole(source) and source not in self.nested:
            context.sole, context.fired_ns = source, now

    def when_fired(self) -> dict[int, int]:
        """Returns the time of the last step of each optimiser."""
        context = self.context
        if context.sole:
            self.fires[context.sole] = context.fired_ns
        return self.fires

    def _seen(self, optimizer: Any) -> None:
        """The first step of an optimiser: what it is."""
        number = self.seen
        self.seen += 1
        parameters = tensors = 0
        for parameter in parameters_of(optimizer):
            tensors += 1
            parameters += parameter.numel()
        defaults = getattr(optimizer, "defaults", None)
        settings = {
            name: value
            for name, value in (defaults.items() if isinstance(defaults, dict) else ())
            if isinstance(value, (bool, int, float, str, tuple, type(None)))
        }
        about: dict[str, Any] = {
            "class": type(optimizer).__name__,
            "module": type(optimizer).__module__,
            "settings": settings,
            "line": self.made.line_of(optimizer),
        }
        about["tensors"] = tensors
        context, threads = self.context, float(self.context.torch.get_num_threads())
        self.made.tell()
        context.emit(
            layout.KIND_OPTIMIZER, value=min(parameters, 0x7FFFFFFF), a=context.json(about), b=number, x=threads
        )


def steps_twice(kind: Any) -> bool:
    """A class with a step of its own below another one: it may call that, and torch's hooks are on both."""
    return sum("step" in vars(base) for base in kind.__mro__ if base.__name__ != "Optimizer") > 1


def is_inner(optimizer: Any) -> bool:
    """The step that has just ended was called by another step of the same optimiser."""
    frame, steps = sys._getframe(1), 0
    while frame is not None:
        code = frame.f_code
        if code.co_name == "wrapper" and code.co_filename.endswith("optimizer.py"):
            steps += frame.f_locals.get("self") is optimizer
        frame = frame.f_back  # type: ignore[assignment]
    return steps > 1


def parameters_of(optimizer: Any) -> Iterator[Any]:
    """Yields the parameters of each group in order, without those that have no shape yet; none if the optimiser is only partly built."""
    groups = getattr(optimizer, "param_groups", None)
    for group in groups if isinstance(groups, list) else []:
        for parameter in group.get("params", ()) if isinstance(group, dict) else ():
            if hasattr(parameter, "numel") and not type(parameter).__name__.startswith("Uninitialized"):
                yield parameter
