# SPDX-License-Identifier: Apache-2.0
"""Gradients are exchanged once per step of the optimiser, not in each of its K backward passes (DistributedDataParallel.no_sync).

K is learned from two steps that agree, or given as `nosync=K`. A step that comes after fewer passes, as at the end of an epoch,
exchanges what was held back just before the optimiser steps; code that reads gradients earlier sees the rank's own.

`nosync=0` never exchanges any: each rank trains for itself, which is no training and shows what the exchange costs
(`gapless tune comm`).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from .. import edits
from ..fix import Tools
from ..layers import Layer, Root
from ..reports import Report
from . import _ddp
from ._devices import number
from ._models import ModelFix

NEVER = sys.maxsize  # more passes than any step has


class NoSync(ModelFix):
    live = True
    unchanged = "gradients are exchanged in each backward pass"
    kept: HeldBack | None = None

    def why_not(self, value: str) -> str:
        if value and not _passes(value):
            return f"{value!r} is no number of backward passes of 2 or more"
        return _ddp.why_not(self.torch)

    def on(self, value: str) -> str:
        if self.kept is None:
            self.kept = HeldBack(self.tools, self.report, _passes(value))
        self.tools.models.add(self.kept)
        return ""

    def nothing(self) -> str:
        return super().nothing() if not self.tools.models.roots else "each step has one backward pass"


def _passes(value: str) -> int | None:
    return NEVER if value == "0" else number(value, 2)


class HeldBack(Layer):
    def __init__(self, tools: Tools, report: Report, passes: int | None) -> None:
        super().__init__(tools.context.torch, report)
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        self.process = tools.context
        self.passes, self.last = passes, 0
        self.calls = 0  # of the model since the optimiser stepped
        self.held = False  # the latest pass kept its gradients to itself
        self.worked = False  # in a pass since the optimiser stepped
        self.module: Any = None
        self.root: Root | None = None
        self.edit: dict[str, Any] | None = None
        self.said = False
        register_optimizer_step_pre_hook(self._before_step)
        register_optimizer_step_post_hook(self._after_step)

    def found(self, root: Root, module: Any) -> str:
        if not isinstance(module, self.torch.nn.parallel.DistributedDataParallel):
            return _ddp.NO_DDP
        self.module, self.root = module, root
        return ""

    def context(self, module: Any) -> Any:
        self.calls += 1
        self.held = False
        if self.passes is None or self.calls >= self.passes or not module.require_backward_grad_sync:
            return None
        self.held = self.passes != NEVER
        return self._held_back(module)

    @contextlib.contextmanager
    def _held_back(self, module: Any) -> Iterator[None]:
        """The backward pass goes by what it was during the forward pass."""
        with module.no_sync():
            yield
        self.worked = True

    def _say(self) -> None:
        what = f"gradients are exchanged in every {self.passes}. backward pass only"
        if self.passes == NEVER:
            what = "gradients are not exchanged: each rank trains for itself"
        if not self.said:  # where the program calls step is known by now
            self.said, self.edit = True, self._edit()
        self.report.changed(what, self.edit)

    def _edit(self) -> dict[str, Any] | None:
        """A counter of passes since the optimiser stepped: before the loop, at the model's call and at the step."""
        step = edits.place_of(edits.caller(through=(os.path.dirname(self.torch.optim.__file__),)))
        call, net = (self.root.call_place, self.root.call_name) if self.root is not None else (None, "")
        loop = edits.same_loop(step, call)
        name = edits.free_name(loop, "passes", "passes_done") if loop is not None else ""
        if loop is None or not net or not name or self.passes in (None, NEVER):
            return None
        held_back = (
            f"if {name} < {self.passes}:",
            f"    for parameter in {net}.parameters():",
            "        if parameter.grad is not None:",
            "            torch.distributed.all_reduce(parameter.grad)",
            "            parameter.grad /= torch.distributed.get_world_size()",
            "STATEMENT",
            f"{name} = 0",
        )
        head = f"with {net}.no_sync() if {name} < {self.passes} else contextlib.nullcontext():"
        return edits.together(
            edits.lines("before", loop, f"{name} = 0"),
            edits.lines("before", call, f"{name} += 1"),
            edits.lines("with", call, head, imports=("import contextlib",)),
            edits.instead(step, "step", *held_back, imports=("import torch",)),
        )

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self.worked and self.process.on:
            self.worked = False
            self._say()
        if self.held and self.process.on and self.module is not None:
            self.held = False
            distributed = self.torch.distributed
            size = distributed.get_world_size(self.module.process_group)
            for parameter in self.module.parameters():
                if parameter.grad is not None:
                    distributed.all_reduce(parameter.grad, group=self.module.process_group)
                    parameter.grad.div_(size)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        calls, self.calls = self.calls, 0
        if self.passes is None and calls > 1 and calls == self.last:
            self.passes = calls
        self.last = calls


FIX = NoSync
