# SPDX-License-Identifier: Apache-2.0
"""Checks an update against a second optimiser of the same class: plain (no foreach, no fused), with the baseline's settings.

The shadow gets the candidate's gradients and values on 64 sampled elements of each tensor, keeps a state of its own, and runs the class's
own `step`; it shares nothing with the program's optimiser, and no hook of anybody sees it. An optimiser whose update of one element depends
on others (Muon, Adafactor) is off its shadow in the baseline too, and the decision then leaves the check out.
"""

from __future__ import annotations

import collections
import math
from typing import Any

from .prints import dense, sample_indices, sampled

PLAIN = {"foreach": False, "fused": False, "capturable": False, "differentiable": False}
HOOKS = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip
TWO_ULP = 2.0**-22  # two units in the last place of float32, as a share of the value


class Shadow:
    def __init__(self, torch: Any, optimizer: Any) -> None:
        self.torch = torch
        kind: Any = type(optimizer)
        step = kind.step
        while hasattr(step, "__wrapped__"):  # torch's hooks and the agent's
            step = step.__wrapped__
        self.step = step
        self.plain = kind.__new__(kind)
        own = {name: value for name, value in vars(optimizer).items() if name != "step"}
        own.update((name, collections.OrderedDict()) for name in HOOKS if name in own)
        for name in ("grad_scale", "found_inf"):
            own.pop(name, None)
        vars(self.plain).update(own)
        self.plain.state = collections.defaultdict(dict)
        self.plain.param_groups = []
        self.indices: list[Any] = []
        for group in optimizer.param_groups:
            small = [self._copy(optimizer, parameter) for parameter in group["params"]]
            self.plain.param_groups.append({**group, "params": small})

    def _copy(self, optimizer: Any, parameter: Any) -> Any:
        """Samples a parameter and what the optimiser has gathered about it so far."""
        torch = self.torch
        indices = sample_indices(torch, max(1, dense(torch, parameter).numel()), len(self.indices))
        self.indices.append(indices)
        small = torch.nn.Parameter(sampled(torch, parameter, indices), requires_grad=True)
        for name, value in (optimizer.state.get(parameter) or {}).items():
            elementwise = isinstance(value, torch.Tensor) and value.shape == parameter.shape and name != "step"
            if elementwise:
                value = sampled(torch, value, indices)
            elif hasattr(value, "clone"):
                value = value.clone()
            self.plain.state[small][name] = value
        return small

    def parameters(self) -> list[Any]:
        return [parameter for group in self.plain.param_groups for parameter in group["params"]]

    def prepare(self, parameters: list[Any], scale: float) -> None:
        """Takes the values and gradients from which the real step starts; the gradients are multiplied by `scale` there."""
        torch = self.torch
        for small, parameter, indices in zip(self.parameters(), parameters, self.indices):
            small.data.copy_(sampled(torch, parameter, indices))
            gradient = parameter.grad
            small.grad = None if gradient is None else sampled(torch, gradient, indices).to(small.dtype) / scale

    def residuals(self, parameters: list[Any], settings: list[dict[str, Any]]) -> list[float]:
        """Steps with these settings, after the real step; returns by tensor how far that is off, as a share of this step."""
        torch = self.torch
        before = [small.detach().clone() for small in self.parameters()]
        for group, wanted in zip(self.plain.param_groups, settings):
            group.update(
                (name, value) for name, value in wanted.items() if not isinstance(value, str) or name not in group
            )
            group.update((name, value) for name, value in PLAIN.items() if name in group)
        with torch.no_grad():
            self.step(self.plain)
        found = []
        for small, old, parameter, indices in zip(self.parameters(), before, parameters, self.indices):
            new = sampled(torch, parameter, indices).double()
            off = float((small.detach().double() - new).norm()) - TWO_ULP * float(new.norm())
            moved = float((small.detach() - old).double().norm())
            found.append(0.0 if off <= 0 else off / moved if moved else math.inf)
        return found


def settings_of(optimizer: Any) -> list[dict[str, Any]]:
    """Returns by group what changes the update: numbers, switches and texts, but not the choice among equal ways to compute it."""
    return [
        {name: setting for name, value in group.items() if (setting := _setting(name, value)) is not None}
        for group in optimizer.param_groups
    ]


def _setting(name: str, value: Any) -> Any:
    if name in PLAIN or name in ("params", "initial_lr", "param_names"):
        return None
    if isinstance(value, (tuple, list)):
        items = [_setting("", item) for item in value]
        return None if None in items else items
    if hasattr(value, "item") and getattr(value, "numel", lambda: 0)() == 1:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value if isinstance(value, (bool, int, float, str)) else None
