# SPDX-License-Identifier: Apache-2.0
"""The optimiser steps on the mean gradient of K iterations instead of after each: another training, with larger batches.

`step` and `zero_grad` of the first K − 1 iterations do nothing; what is left when the program ends is not stepped.
"""

from __future__ import annotations

import ast
import os
from typing import Any, Callable

from .. import edits
from ..fix import ProgramFix, Tools
from ..patches import hide
from ._devices import number


class Accumulate(ProgramFix):
    def __init__(self, tools: Tools, name: str) -> None:
        super().__init__(tools, name)
        self.calls: dict[int, int] = {}  # by optimiser: how often the program asked it to step
        self.wrapped: set[Any] = set()
        self.places: dict[str, edits.Place | None] = {}  # where the program calls step and zero_grad
        self.edit: dict[str, Any] | None = None

    def why_not(self, value: str) -> str:
        return "" if number(value, 2) else f"{value!r} is no number of iterations of 2 or more"

    def on(self, value: str) -> str:
        every, torch = int(value), self.torch
        self.tools.optimizers.when_made.append(lambda: self._made(every))
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            self.context.patches.wrap(owner, "zero_grad", lambda original: self._around_zero(every, original))
        scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        self.context.patches.wrap(scaler, "unscale_", self._around_unscale)
        return ""

    def nothing(self) -> str:
        return "no optimiser stepped"

    def _made(self, every: int) -> None:
        optimizer = list(self.tools.optimizers.alive.values())[-1]()
        kind = type(optimizer)
        if kind not in self.wrapped:
            self.wrapped.add(kind)
            self.context.patches.wrap(kind, "step", lambda original: self._around_step(every, original))

    def _amid(self, every: int) -> bool:
        return any(count % every for count in self.calls.values())

    def _around_step(self, every: int, original: Callable[..., Any]) -> Callable[..., Any]:
        def step(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                if not self.context.on or not self.report.is_on():
                    return original(self_, *args, **kwargs)
                if args or kwargs:  # a closure computes and steps in one: there is nothing to put off
                    self.report.pass_over("the program passes a closure to step")
                    return original(self_, *args, **kwargs)
                count = self.calls[id(self_)] = self.calls.get(id(self_), 0) + 1
                self._note("step")
                if count % every:
                    return None
                _mean(self.torch, self_, every)
                if not self.report.took_effect():
                    self.edit = self._edit(every)
                what = f"{type(self_).__name__} steps every {every} iterations, on the mean gradient"
                self.report.changed(what, self.edit)
                return original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return step

    def _around_zero(self, every: int, original: Callable[..., Any]) -> Callable[..., Any]:
        def zero_grad(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                self._note("zero_grad")
                if self.context.on and self.report.is_on() and self._amid(every):
                    return None
                return original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return zero_grad

    def _note(self, call: str) -> None:
        if call not in self.places:
            self.places[call] = edits.place_of(edits.caller(through=(os.path.dirname(self.torch.optim.__file__),)))

    def _edit(self, every: int) -> dict[str, Any] | None:
        """A counter before the loop; the steps of the optimiser, and what makes its gradients zero, go by it."""
        step, zero = self.places.get("step"), self.places.get("zero_grad")
        loop = edits.same_loop(step, zero)
        name = edits.free_name(loop, "passes", "passes_done") if loop is not None else ""
        here = edits.statement(step) if step is not None else None
        if loop is None or here is None or not name or len(self.wrapped) != 1:
            return None
        optimizer = ast.unparse(here).partition(".step(")[0]
        mean = (
            f"{name} += 1",
            f"if {name} % {every} == 0:",
            f"    for group in {optimizer}.param_groups:",
            '        for parameter in group["params"]:',
            "            if parameter.grad is not None:",
            f"                parameter.grad.div_({every})",
            "    STATEMENT",
        )
        return edits.together(
            edits.lines("before", loop, f"{name} = 0"),
            edits.instead(step, "step", *mean),
            edits.instead(zero, "zero_grad", f"if {name} % {every} == 0:", "    STATEMENT"),
        )

    def _around_unscale(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Refuses the fix when the program unscales: unscaled gradients must not be added to scaled ones."""

        def unscale_(self_: Any, *args: Any, **kwargs: Any) -> Any:
            if self.report.is_on() and self_.is_enabled():
                self.calls.clear()
                self.report.refuse("the program scales its loss with a GradScaler")
            return original(self_, *args, **kwargs)

        return unscale_


def _mean(torch: Any, optimizer: Any, every: int) -> None:
    with torch.no_grad():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.div_(every)


FIX = Accumulate
