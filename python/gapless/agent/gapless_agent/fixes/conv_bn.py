# SPDX-License-Identifier: Apache-2.0
"""Inference: batch norm is folded into the convolution in front of it. Calls go to a folded copy; the model itself stays as it is.

The copy is made anew when a weight changed, and the first result is compared with the model's own.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ..layers import Call, Layer, Root

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
CLOSE = 1e-3  # of the largest value


def why_not(agent: Agent, value: str) -> str:
    return "folding is for inference, and this program trains" if agent.models.optimizers.made_any else ""


def on(agent: Agent, value: str) -> str:
    agent.models.add(Folded(agent, "conv_bn"))
    return ""


def off(agent: Agent) -> str:
    agent.models.remove("conv_bn")
    return "the model is called unchanged"


def nothing(agent: Agent) -> str:
    return (
        "no model was called for inference"
        if not agent.models.optimizers.made_any
        else "folding is for inference, and this program trains"
    )


class Folded(Layer):
    training_only = False

    def __init__(self, agent: Agent, fix: str) -> None:
        super().__init__(agent, fix)
        self.copies: dict[int, tuple[Any, Any]] = {}  # the state that was folded, and the folded copy
        self.pairs = 0

    def found(self, root: Root, module: Any) -> str:
        if root.trains:
            return "folding is for inference, and this program trains"
        if module.training:
            return f"{type(module).__name__} is not in eval mode: its batch norm uses the batch"
        if module._forward_hooks or module._forward_pre_hooks:
            return f"{type(module).__name__} has hooks"
        self.pairs = sum(
            isinstance(child, self.agent.torch.nn.modules.batchnorm._BatchNorm) for child in module.modules()
        )
        folded = self._fold(module)
        self.pairs -= sum(
            isinstance(child, self.agent.torch.nn.modules.batchnorm._BatchNorm) for child in folded.modules()
        )
        if not self.pairs:
            return f"{type(module).__name__} has no batch norm behind a convolution"
        self.copies[id(module)] = (_state(module), folded)
        return ""

    def _fold(self, module: Any) -> Any:
        from torch.fx.experimental.optimization import fuse

        return fuse(copy.deepcopy(module))

    def call(self, module: Any, call: Call) -> Call:
        if module.training or self.agent.torch.is_grad_enabled() or id(module) not in self.copies:
            return call
        state, folded = self.copies[id(module)]
        now = _state(module)
        if now != state:
            folded = self._fold(module)
            self.copies[id(module)] = (now, folded)
        if state is not None and self.fix in self.agent.fixes.took_effect:
            return lambda _, *args, **kwargs: folded(*args, **kwargs)
        return lambda _, *args, **kwargs: self._compared(call(module, *args, **kwargs), folded(*args, **kwargs))

    def _compared(self, own: Any, result: Any) -> Any:
        torch = self.agent.torch
        pairs = (
            [(own, result)]
            if isinstance(own, torch.Tensor)
            else list(zip(own, result))
            if isinstance(own, (tuple, list))
            else []
        )
        if not pairs or not all(isinstance(output, torch.Tensor) and _close(output, other) for output, other in pairs):
            raise ValueError("the folded model computes something else")
        return result

    def works(self, root: Root, module: Any) -> None:
        self.agent.fixes.changed(
            "conv_bn", f"{type(module).__name__}: {self.pairs} × batch norm folded into its convolution"
        )

    def lost(self, root: Root, module: Any) -> None:
        self.copies.pop(id(module), None)


def _close(wanted: Any, other: Any) -> bool:
    scale = max(float(wanted.abs().max()), 1e-6) if wanted.numel() else 1.0
    return wanted.shape == other.shape and (not wanted.numel() or float((wanted - other).abs().max()) <= CLOSE * scale)


def _state(module: Any) -> tuple[int, ...]:
    """Changes when a parameter or buffer is written to or replaced."""
    kept = [*module.parameters(), *module.buffers()]
    return tuple([tensor._version for tensor in kept] + [id(tensor) for tensor in kept])
