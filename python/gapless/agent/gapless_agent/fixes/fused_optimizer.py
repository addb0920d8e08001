# SPDX-License-Identifier: Apache-2.0
"""The optimiser updates all parameters in few kernels: `fused=True`, or `foreach=True` with `fused_optimizer=foreach`.

Adam, AdamW, SGD and Adagrad, also where the program asks for the loop (`foreach=False`). Switched on in a running program, existing
ones change over with their state; what they refuse stays as it was.
"""

from __future__ import annotations

import inspect
from typing import Any

from ..constructors import Given, Plan
from ..fix import ProgramFix, Tools

NAMES = ("Adam", "AdamW", "SGD", "Adagrad")


class FusedOptimizer(ProgramFix):
    live = True

    def __init__(self, tools: Tools, name: str) -> None:
        super().__init__(tools, name)
        self.before: dict[int, list[dict[str, Any]]] = {}  # by optimiser: the flags of its groups

    def why_not(self, value: str) -> str:
        return "" if value in ("", "fused", "foreach") else f"{value!r} is neither fused nor foreach"

    def on(self, value: str) -> str:
        name = value or "fused"
        for kind in self._kinds():
            self.change_arguments(kind, lambda given: self._plan(given, name))
        changed = [type(optimizer).__name__ for optimizer in self._alive() if self._change_over(optimizer, name)]
        return f"{', '.join(changed)}: {name}" if changed else ""

    def off(self) -> str:
        back = []
        for optimizer in self._alive():
            flags = self.before.pop(id(optimizer), None)
            if flags is not None:
                for group, kept in zip(optimizer.param_groups, flags):
                    group.update(kept)
                _place_steps(optimizer)
                back.append(type(optimizer).__name__)
        self.before.clear()
        return f"{', '.join(back)}: as the program made them"

    def nothing(self) -> str:
        return f"the program made no optimiser that can do it ({', '.join(NAMES)})"

    def _kinds(self) -> list[Any]:
        return [getattr(self.torch.optim, name) for name in NAMES]

    def _alive(self) -> list[Any]:
        found = [reference() for reference in self.tools.optimizers.alive.values()]
        return [optimizer for optimizer in found if type(optimizer) in self._kinds()]

    def _plan(self, given: Given, name: str) -> Plan | None:
        title = type(given.object).__name__
        if not given.knows(name):
            self.report.pass_over(f"{title} of torch {self.torch.__version__} has no {name}=")
            return None
        reason = _why_not_here(title, name, bool(given.get(name)), given.get("differentiable"))
        if reason:
            self.report.pass_over(reason)
            return None
        before = {flag: given.get(flag) for flag in ("fused", "foreach") if given.knows(flag)}
        flags = {flag: value for flag, value in _flags(name).items() if value or before.get(flag)}  # both cannot be
        given.set(**flags)
        optimizer = given.object

        def remember() -> None:
            self.before[id(optimizer)] = [dict(before) for _ in optimizer.param_groups]

        return Plan(name, {flag: str(value) for flag, value in flags.items()}, after=remember)

    def _change_over(self, optimizer: Any, name: str) -> bool:
        """Switches an optimiser that has stepped already; returns false, with the reason reported, if it cannot."""
        signature = inspect.signature(type(optimizer).__init__).parameters
        groups = optimizer.param_groups
        title = type(optimizer).__name__
        if name not in signature:
            self.report.pass_over(f"{title} of torch {self.torch.__version__} has no {name}=")
            return False
        reason = _why_not_here(
            title, name, all(group.get(name) for group in groups), any(group.get("differentiable") for group in groups)
        )
        if reason:
            self.report.pass_over(reason)
            return False
        if name == "fused" and not _can_fuse(self.torch, groups):
            self.report.pass_over(f"{title}: its parameters are not all of a kind that can be fused")
            return False
        self.before[id(optimizer)] = [
            {flag: group.get(flag) for flag in ("fused", "foreach") if flag in group} for group in groups
        ]
        for group in groups:
            group.update({flag: value for flag, value in _flags(name).items() if flag in group})
        if name == "fused":
            optimizer._step_supports_amp_scaling = True
            optimizer._need_device_dtype_check_for_fused = True
        _place_steps(optimizer)
        return True


def _flags(value: str) -> dict[str, bool]:
    return {"foreach": True, "fused": False} if value == "foreach" else {"fused": True, "foreach": False}


def _why_not_here(title: str, name: str, is_on: bool, differentiable: Any) -> str:
    if is_on:
        return f"{title} has {name}=True already"
    return f"{title} is differentiable, which {name} is not" if differentiable else ""


def _can_fuse(torch: Any, groups: list[dict[str, Any]]) -> bool:
    utilities = __import__("torch.utils._foreach_utils", fromlist=["_get_fused_kernels_supported_devices"])
    supported = getattr(utilities, "_get_fused_kernels_supported_devices", lambda: ["cuda"])()
    parameters = [parameter for group in groups for parameter in group["params"]]
    return all(torch.is_floating_point(parameter) and parameter.device.type in supported for parameter in parameters)


def _place_steps(optimizer: Any) -> None:
    """Counts of steps lie beside the parameters for a fused optimiser, in the memory of the host otherwise."""
    for group in optimizer.param_groups:
        beside = bool(group.get("fused") or group.get("capturable"))
        for parameter in group["params"]:
            state = optimizer.state.get(parameter, {})
            step = state.get("step")
            if hasattr(step, "device"):
                state["step"] = step.float().to(parameter.device if beside else "cpu")


FIX = FusedOptimizer
