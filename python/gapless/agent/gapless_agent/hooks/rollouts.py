# SPDX-License-Identifier: Apache-2.0
"""Rollouts of reinforcement learning: how long a step collects experience, and how many environment steps that takes.

Environments are classes of libraries (gymnasium, gym, Stable-Baselines3's vector environments) and of the program itself, each with a
`step` of its own. These are wrapped in every class below the libraries' base classes, once the program makes an optimiser and again as
its first step begins: by then they are imported and defined. Of environments inside of environments the outermost call counts.

A rollout goes from the first environment step of a training step to the last one, with the policy's inference between them. The cost: two
readings of the clock for each environment step, and one record for a training step that has any.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from .. import layout
from ..hook import Hook, Parts
from ..patches import hide

BASES = (
    ("gymnasium", "Env"),
    ("gymnasium.vector", "VectorEnv"),
    ("gym", "Env"),
    ("gym.vector", "VectorEnv"),
    ("stable_baselines3.common.vec_env", "VecEnv"),
)


class Rollouts(Hook):
    full = False

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.optimizers = parts.optimizers
        self.guard = self.context.guard("rollouts", "How long steps collect experience is not known from here on.")
        self.wrapped: set[Any] = set()
        self.inside = False
        self.reset()

    def reset(self) -> None:
        self.busy = False
        self.count = self.begun_ns = self.ended_ns = self.stepping_ns = 0

    def install(self) -> None:
        self.optimizers.when_made.append(self.look)
        self.context.at_step(1, self.look)

    def look(self) -> None:
        """Wraps `step` of all environments that are defined by now."""
        if not self.guard.on:
            return
        try:
            for module, name in BASES:
                base = getattr(sys.modules.get(module), name, None)
                if isinstance(base, type):
                    self._wrap(base)
        except Exception as error:
            self.guard.failed(error)

    def _wrap(self, kind: Any) -> None:
        if kind in self.wrapped:
            return self._below(kind)
        self.wrapped.add(kind)
        if callable(vars(kind).get("step")):
            self.guard.patches.wrap(kind, "step", self._around_step)
        self._below(kind)

    def _below(self, kind: Any) -> None:
        for child in type.__subclasses__(kind):
            self._wrap(child)

    def _around_step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context = self.context

        def step(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                if self.inside or not self.guard.on or context.thread() != context.main_thread:
                    return original(self_, *args, **kwargs)
                self.inside = True
                begun = context.clock()
                try:
                    return original(self_, *args, **kwargs)
                finally:
                    self.inside = False
                    self._stepped(self_, begun, context.clock())
            except BaseException as error:
                hide(error)
                raise

        return step

    def _stepped(self, environment: Any, begun_ns: int, ended_ns: int) -> None:
        if not self.count:
            self.begun_ns = begun_ns
            self.busy = self.context.attention = True
        environments = getattr(environment, "num_envs", 1)
        self.count += environments if type(environments) is int and environments > 0 else 1
        self.ended_ns = ended_ns
        self.stepping_ns += ended_ns - begun_ns
        context = self.context
        context.hook_calls += 1
        context.cost_ns += context.clock() - ended_ns + context.call_ns

    def at_step(self, step: int) -> None:
        """Step `step` begins: the rollout of the one before is written."""
        since_ns = self.context.clock() - self.begun_ns
        self.context.emit(
            layout.KIND_ROLLOUT, ts_ns=time.time_ns() - since_ns, dur_ns=self.ended_ns - self.begun_ns, a=step - 1,
            b=self.count, x=float(self.stepping_ns),
        )  # fmt: skip
        self.reset()


HOOK = Rollouts
