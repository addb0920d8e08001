# SPDX-License-Identifier: Apache-2.0
"""Scaled losses for a program that knows nothing of them.

The backward pass starts from the scale instead of from 1. When it is over, the gradients of the optimisers' parameters are scaled back;
those that were there before are scaled with the loss first, for the new ones are added to them. The scale is a power of two, so nothing
is rounded. Whether all were finite is kept on the device and read once, when the optimiser steps, as GradScaler does it.
"""

from __future__ import annotations

from typing import Any, Callable

from .. import layout
from ..fix import Tools
from ..patches import hide
from ..reports import Report

FIRST, GROWS_AFTER, MOST = 65536.0, 2000, 2.0**24


class Scaling:
    def __init__(self, tools: Tools, report: Report) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        self.context, self.optimizers, self.report = tools.context, tools.optimizers, report
        self.torch = tools.context.torch
        self.on = False
        self.scale, self.good = FIRST, 0
        self.found: list[Any] = []  # per backward pass: 1 where a gradient was not finite
        self.dropped: dict[int, bool] = {}
        tools.backward.inside(self._around)
        register_optimizer_step_pre_hook(self._before_step)
        register_optimizer_step_post_hook(self._after_step)

    def _active(self) -> bool:
        return self.on and self.context.on and self.report.took_effect()

    def _parameters(self) -> list[Any]:
        found = [reference() for reference in self.optimizers.alive.values()]
        groups = [group for optimizer in found if optimizer is not None for group in optimizer.param_groups]
        return [parameter for group in groups for parameter in group["params"]]

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
            try:
                if not self._active() or kwargs.get("create_graph") or kwargs.get("grad_variables") is not None:
                    return original(tensors, grad_tensors, *args, **kwargs)
                scale = self.scale
                before = [parameter.grad for parameter in self._parameters() if parameter.grad is not None]
                _multiply(self.torch, before, scale)
                result = original(tensors, self._seeds(tensors, grad_tensors, scale), *args, **kwargs)
                after = [parameter.grad for parameter in self._parameters() if parameter.grad is not None]
                self.found.append(_unscale(self.torch, after, scale))
                return result
            except BaseException as error:
                hide(error)
                raise

        return backward

    def _seeds(self, tensors: Any, given: Any, scale: float) -> Any:
        torch = self.torch
        if isinstance(tensors, torch.Tensor):
            return torch.full_like(tensors, scale) if given is None else given * scale
        seeds = list(given) if given is not None else [None] * len(tensors)
        return [
            torch.full_like(tensor, scale) if seed is None else seed * scale for tensor, seed in zip(tensors, seeds)
        ]

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._active() or not self.found:
            return
        found, self.found = self.found, []
        infinite = any(float(flag) > 0 for flag in found if flag is not None)
        if infinite:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    parameter.grad = None  # nothing to step with: the optimiser leaves all as it is
        self.good = 0 if infinite else self.good + 1
        before = self.scale
        if infinite:
            self.scale = max(1.0, self.scale / 2)
        elif self.good >= GROWS_AFTER:
            self.scale, self.good = min(MOST, self.scale * 2), 0
        if self.scale != before:
            self.context.emit(layout.KIND_SCALE, flags=int(infinite), a=self.context.step, x=self.scale)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.found.clear()


def _multiply(torch: Any, gradients: list[Any], factor: float) -> None:
    with torch.no_grad():
        for gradient in gradients:
            gradient.mul_(factor)


def _unscale(torch: Any, gradients: list[Any], scale: float) -> Any:
    """Divides by the scale; a number that is above 0 when one was not finite."""
    if not gradients:
        return None
    with torch.no_grad():
        sums = []
        for gradient in gradients:
            gradient.div_(scale)
            values = gradient.coalesce().values() if gradient.is_sparse else gradient
            sums.append((~torch.isfinite(values)).any().to(gradients[0].device))
        return torch.stack(sums).any().float()
