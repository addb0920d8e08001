# SPDX-License-Identifier: Apache-2.0
"""Inference: a program without an optimiser steps when it calls its model.

`torch.nn.Module.__call__` is wrapped only until the model is known, and never while a model runs: the wrapper takes itself away for the
duration of an outermost call. So submodules are never slowed down, and what torch.compile traces is torch's own. Once the model is
known, only its class is wrapped. As soon as the program makes an optimiser, or compiles a function that may call the model, all of
it is gone.

A wrapper of `__call__` must have the module as its local `self`, and close over nothing of that name: PyTorch's profiler takes the frame
of `Module.__call__` for the call of a module and reads the module from there, in threads also while the wrapper is in place.

A program that infers with gradients is one only where the user says so (`calls` in the options).

Fixes that work on the model look for it in the same way (`models.py`), through the same wrapper: then it stays until they know theirs.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable

from . import layout
from .context import Context
from .models import Models
from .optim import Optimizers
from .patches import hide
from .steps import HOLD, Steps

if TYPE_CHECKING:
    from .calls import Calls

SURE_CALLS = 4  # 4 calls without gradients and without an optimiser are inference


class Roots:
    def __init__(self, context: Context, steps: Steps, optimizers: Optimizers, models: Models) -> None:
        self.context, self.steps, self.optimizers, self.models = context, steps, optimizers, models
        self.guard = context.guard(
            "the calls of a model",
            "Steps of a program that only infers, without an optimiser, are not counted from here on.",
        )
        self.guard.let_go.append(self._stop)
        self.counts_calls = context.options.step != "explicit"
        self.module: Any = context.torch.nn.Module
        self.known: type | None = None
        self.looks = False
        # If the program has put its own wrapper around one of the agent's, the agent's wrapper stays and does nothing.
        self.generation = 0
        self.source = 0
        self.calls: dict[int, int] = {}
        self.alive: dict[int, Any] = {}
        self.timed = self._timed()
        # A second one that records the calls of the model that the program infers with, as Calls.around() does.
        self.recorded: Callable[[Callable[..., Any], Callable[[Any], bool]], Callable[..., Any]] | None = None

    def _timed(self) -> Calls | None:
        if not self.context.options.calls:
            return None
        from .calls import Calls  # most processes do without

        return Calls(self.context)

    def install(self) -> None:
        self.models.look = self._look
        if not self.counts_calls:
            return
        self.optimizers.once_known(lambda: self._guarded(self.leave))
        self.optimizers.when_made.append(lambda: self._guarded(self.leave))
        self.steps.guard.at_end(self.steps.flush)
        self._look()

    def reset(self) -> None:
        """After a fork: a worker of a loader or a child that computes; neither is looked at."""
        self.counts_calls = False
        self.leave()

    def _stop(self) -> None:
        """An error ended the counting of calls: what it kept back holds nobody up."""
        self.counts_calls = False
        self.looks, self.known, self.generation = False, None, self.generation + 1
        self.models.searches = False
        self.steps.trains()

    def _look(self) -> None:
        if not self.looks and self.guard.on:
            self.looks = True
            self.generation += 1
            self.guard.patches.wrap(self.module, "__call__", self._around_any)

    def _look_away(self) -> None:
        if self.looks:
            self.looks = False
            self.generation += 1
            self.guard.patches.unwrap(self.module, "__call__")

    def leave(self) -> None:
        if not self.models.searches:
            self._look_away()
        if self.known is not None:
            self.guard.patches.unwrap(self.known, "__call__")
            self.known = None

    def compiles(self, model: Any) -> None:
        """torch.compile was called. A function may call the model: what is traced must be torch's own."""
        if not isinstance(model, self.module):
            self.models.compiles(model)
            self.leave()

    def _around_any(self, original: Callable[..., Any]) -> Callable[..., Any]:
        generation = self.generation
        roots = self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            context = roots.context
            if generation != roots.generation or not roots.guard.on or threading.get_ident() != context.main_thread:
                return original(self, *args, **kwargs)
            if context.in_loader or roots._loads():  # a transform of the dataset, which is no model
                return original(self, *args, **kwargs)
            models = roots.models
            failed = True
            roots._guarded(roots._look_away)
            try:
                if models.searches and models.meets(self):
                    result = models.through(original, self, args, kwargs)
                else:
                    result = original(self, *args, **kwargs)
                failed = False
            except BaseException as error:
                hide(error)
                raise
            finally:
                if models.searches or (failed and roots.counts_calls and not roots.optimizers.made_any):
                    roots._guarded(roots._look)
            if not roots.counts_calls:
                return result
            entered = time.perf_counter_ns()
            roots._guarded(roots._called, self)
            context.hook_calls += 1
            context.cost_ns += time.perf_counter_ns() - entered
            return result

        return __call__

    def _loads(self) -> bool:
        """Returns true in a worker of a loader, which calls transforms and no model: nothing is looked for in it from here on.

        Each look changes the class of all modules, which takes longer than many a transform, and a sample has several.
        """
        if self.context.role() != layout.ROLE_LOADS:
            return False
        self.counts_calls = self.models.searches = False
        self._guarded(self.leave)
        return True

    def _guarded(self, act: Callable[..., None], *arguments: Any) -> None:
        try:
            act(*arguments)
        except Exception as error:
            self.guard.failed(error)

    def _called(self, root: Any) -> None:
        context, steps = self.context, self.steps
        if self.optimizers.made_any or context.backwards:
            steps.trains()
            return  # this program trains; with what steps, its optimiser says
        source = id(root)
        if source not in self.calls:
            self.alive[source] = weakref.ref(root, lambda _: self._gone(source))
        count = self.calls[source] = self.calls.get(source, 0) + 1
        if steps.shared.marker is None:
            steps.inference = True
            steps.hold()
        if count >= SURE_CALLS and (context.options.calls or not context.torch.is_grad_enabled()):
            steps.release()
        steps.fired(source, layout.FLAG_INFERENCE)
        if steps.shared.marker is None or count >= HOLD * 4:
            self._look()
        elif steps.shared.marker == source:
            self.source, self.known = source, type(root)
            self.guard.patches.wrap(self.known, "__call__", self._around_known)
        else:
            self._look()

    def _counts(self, module: Any) -> bool:
        return id(module) == self.source and self.guard.on and self.steps.inference

    def _around_known(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context = self.context
        if self.timed is not None:
            original = self.timed.around(original, self._counts)
        if self.recorded is not None:
            original = self.recorded(original, self._counts)
        roots = self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                result = original(self, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if roots._counts(self):
                entered = time.perf_counter_ns()
                roots._guarded(roots.steps.fired, roots.source, layout.FLAG_INFERENCE)
                context.hook_calls += 1
                context.cost_ns += time.perf_counter_ns() - entered
            return result

        return __call__

    def _gone(self, source: int) -> None:
        """A model was thrown away; the program may go on with another one."""
        self.calls.pop(source, None)
        self.alive.pop(source, None)
        if self.guard.on and self.steps.inference:
            self._guarded(self._another, source)

    def _another(self, source: int) -> None:
        self.steps.source_gone(source)
        if source == self.source and self.known is not None:
            self.leave()
            self._look()
