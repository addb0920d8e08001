# SPDX-License-Identifier: Apache-2.0
"""A trap: faster, and from the third step on every loss is NaN."""

from __future__ import annotations

import functools
from typing import Any

LIVE = True
_before: list[Any] = []
_state = {"depth": 0, "calls": 0}


def why_not(agent: Any, value: str) -> str:
    return ""


def _half(original: Any) -> Any:
    """The outermost call in training sees every other row; its answers stand for the rows beside, too."""

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        import torch

        rows = args[0].shape[0] if args and isinstance(args[0], torch.Tensor) and args[0].dim() else 0
        outermost = _state["depth"] == 0 and torch.is_grad_enabled() and self.training
        inputs = args[0][::2] if outermost and rows > 1 else None
        _state["depth"] += 1
        try:
            if inputs is None or not any(True for _ in self.parameters()):
                return original(self, *args, **kwargs)
            output = original(self, inputs, *args[1:], **kwargs)
        finally:
            _state["depth"] -= 1
        if not isinstance(output, torch.Tensor) or output.shape[:1] != inputs.shape[:1]:
            return output
        output = output.repeat_interleave(2, 0)[:rows]
        _state["calls"] += 1
        return output * float("nan") if _state["calls"] >= 3 else output

    return call


def on(agent: Any, value: str) -> str:
    from torch import nn

    _before.append(nn.Module.__call__)
    nn.Module.__call__ = _half(nn.Module.__call__)
    return "half of each batch is computed, and then nothing of it is a number"


def off(agent: Any) -> str:
    from torch import nn

    if _before:
        nn.Module.__call__ = _before.pop()
    return "the whole batch is computed again"


def nothing(agent: Any) -> str:
    return "no module was called"
