# SPDX-License-Identifier: Apache-2.0
"""GradScaler: the loss scale, and the steps that it skipped, which the optimiser's hooks never see.

The scale lives on the device; it is read only when that needs no waiting (see `later.py`).
"""

from __future__ import annotations

import time
from typing import Any, Callable

from . import layout
from .backward import Backward
from .context import Context
from .later import Later
from .optim import Optimizers
from .patches import hide
from .steps import Steps


class Scalers:
    def __init__(
        self, context: Context, steps: Steps, optimizers: Optimizers, later: Later, backward: Backward
    ) -> None:
        self.context, self.steps, self.optimizers = context, steps, optimizers
        self.later, self.backward = later, backward
        self.guard = context.guard(
            "GradScaler", "Its scale is not in the run, and steps that it skips are not counted from here on."
        )
        self.guard.let_go.append(self._forget)
        self.when_skipped: list[Callable[[int], None]] = []  # are given the id of an optimiser whose step was skipped
        self.reset()

    def reset(self) -> None:
        self.last_scale = 0.0
        self.fires: dict[int, int] = {}  # time of the last step of each optimiser, at the last update

    def _forget(self) -> None:
        self.backward.scaled = None

    def install(self) -> None:
        amp = self.context.torch.amp
        scaler = getattr(amp, "GradScaler", None) or self.context.torch.cuda.amp.GradScaler
        self.guard.patches.wrap(scaler, "update", self._around_update)
        self.guard.patches.wrap(scaler, "scale", self._around_scale)

    def _around_scale(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Keeps the loss that is scaled, until its backward pass: that is the loss of the program."""
        context, backward = self.context, self.backward

        def scale(self_: Any, outputs: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                scaled = original(self_, outputs, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if context.looks and self.guard.on and scaled is not outputs:
                backward.scaled = (scaled, outputs)
            return scaled

        return scale

    def _around_update(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def update(self_: Any, *args: Any, **kwargs: Any) -> Any:
            skipped = False
            if self.guard.on:
                try:
                    skipped = self._before(self_)
                except Exception as error:
                    self.guard.failed(error)
            try:
                result = original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if self.guard.on:
                try:
                    self._after(self_, skipped)
                except Exception as error:
                    self.guard.failed(error)
            return result

        return update

    def _before(self, scaler: Any) -> bool:
        """Optimisers that the scaler was asked to step, but whose hook did not fire, were skipped; that ends a step all the same."""
        if not scaler.is_enabled():
            return False
        entered = time.perf_counter_ns()
        before, self.fires = self.fires, dict(self.optimizers.when_fired())
        stepped = [
            source
            for source, state in getattr(scaler, "_per_optimizer_states", {}).items()
            if getattr(state.get("stage"), "name", "") == "STEPPED"
        ]
        skipped = [source for source in stepped if self.fires.get(source, 0) == before.get(source, 0)]
        for source in skipped if self.context.counts_steps else ():
            self.steps.fired(source, layout.FLAG_SKIPPED)
        for follower in self.when_skipped if skipped else ():
            for source in skipped:
                follower(source)
        self.context.cost_ns += time.perf_counter_ns() - entered
        return bool(skipped)

    def _after(self, scaler: Any, skipped: bool) -> None:
        scale = getattr(scaler, "_scale", None)  # one that is switched off has none
        if scale is None or not scaler.is_enabled() or not self.context.options.full:
            return
        entered = time.perf_counter_ns()
        step, when = max(0, self.context.step - 1), time.time_ns()

        def known(value: float) -> None:
            fell = skipped or (0 < value < self.last_scale)
            self.last_scale = value
            self.context.emit(layout.KIND_SCALE, flags=1 if fell else 0, ts_ns=when, a=step, x=value)

        self.later.read(scale, known, changes=True)
        self.context.cost_ns += time.perf_counter_ns() - entered
