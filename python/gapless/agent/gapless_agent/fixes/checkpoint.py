# SPDX-License-Identifier: Apache-2.0
"""Activations of the model's repeated blocks are computed again in the backward pass instead of kept: less memory, more time.

`checkpoint` or `checkpoint=block`: all blocks. `checkpoint=0.5`: every second one, evenly spread. `checkpoint=3`: every third.
Random numbers are the same in both passes, and statistics of batch norm are counted once. The blocks stay the modules they were.
A model of transformers whose blocks are all asked for has its own switch, `gradient_checkpointing_enable()`, which is used instead.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from .. import edits
from ..layers import Layer, Root
from ..models import Models
from ..reports import Report
from ._models import ModelFix

IMPORT = "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing"


class Checkpoint(ModelFix):
    live = True
    unchanged = "activations are kept"

    def why_not(self, value: str) -> str:
        if _every(value) is None:
            return f"{value!r} is neither a share of the blocks (0.5) nor a distance between them (2)"
        if self.tools.reports.is_on("compile") or self.tools.reports.is_on("cudagraph"):
            return "the model is compiled: the compiler decides what is computed again"
        return ""

    def on(self, value: str) -> str:
        self.tools.models.add(Blocks(self.tools.models, self.torch, self.report, _every(value) or 1.0))
        return ""


def _every(value: str) -> float | None:
    """Returns K: one of every K blocks is computed again."""
    if value in ("", "block"):
        return 1.0
    try:
        given = float(value)
    except ValueError:
        return None
    if 0 < given < 1:
        return 1 / given
    return given if given >= 1 and given == int(given) and given <= 1 << 16 else None


def repeated(torch: Any, module: Any) -> list[Any]:
    """The blocks: of all lists of modules of one class in a row, the one with the most parameters; outer ones first."""
    best: list[Any] = []
    most = 0
    for module_list in module.modules():
        if not isinstance(module_list, (torch.nn.ModuleList, torch.nn.Sequential)):
            continue
        kinds: dict[type, list[Any]] = {}
        for child in module_list.children():
            if next(child.children(), None) is not None:
                kinds.setdefault(type(child), []).append(child)
        for same in kinds.values():
            size = sum(parameter.numel() for block in same for parameter in block.parameters())
            if len(same) > 1 and size > most:
                best, most = same, size
    return best


class Blocks(Layer):
    def __init__(self, models: Models, torch: Any, report: Report, every: float) -> None:
        super().__init__(torch, report)
        self.models, self.every = models, every
        self.chosen: dict[int, list[Any]] = {}
        self.switched: set[int] = set()  # models whose own switch is on because of us

    def found(self, root: Root, module: Any) -> str:
        if self.every == 1.0 and _has_switch(module):
            if module.is_gradient_checkpointing:
                return f"{type(module).__name__} computes activations again already"
            _switch_on(module)
            self.switched.add(id(module))
            return ""
        blocks = repeated(self.torch, module)
        if not blocks:
            return f"{type(module).__name__} has no repeated blocks"
        count = max(1, round(len(blocks) / self.every))
        self.chosen[id(module)] = chosen = [
            blocks[int(number * self.every)] for number in range(count) if int(number * self.every) < len(blocks)
        ]
        for block in chosen:
            self.models.around(block, self._again)
        return ""

    def _again(self, call: Any, block: Any, args: Any, kwargs: Any) -> Any:
        from torch.utils.checkpoint import checkpoint

        torch = self.torch
        if not torch.is_grad_enabled() or not self.report.is_on():
            return call(block, *args, **kwargs)
        passes: list[int] = []

        def run(*args: Any, **kwargs: Any) -> Any:
            passes.append(1)
            with _counted_once(torch, block) if len(passes) > 1 else contextlib.nullcontext():
                return call(block, *args, **kwargs)

        return checkpoint(run, *args, use_reentrant=False, **kwargs)

    def works(self, root: Root, module: Any) -> None:
        if id(module) in self.switched:
            self._say_switched(root, module)
            return
        chosen = self.chosen[id(module)]
        kind = type(chosen[0]).__name__
        edit = None
        if root.setup is not None and self.every == 1.0:
            place, name = root.setup
            check = f'lambda module: type(module).__name__ == "{kind}"'
            edit = edits.lines(
                "before", place, f"apply_activation_checkpointing({name}, check_fn={check})", imports=(IMPORT,)
            )
        self.report.changed(f"{len(chosen)} × {kind} computed again in the backward pass", edit)

    def _say_switched(self, root: Root, module: Any) -> None:
        edit = None
        if root.setup is not None:
            place, name = root.setup
            edit = edits.lines("before", place, f"{name}.gradient_checkpointing_enable()")
        what = f"{type(module).__name__}: gradient_checkpointing_enable(), computed again in the backward pass"
        self.report.changed(what, edit)

    def lost(self, root: Root, module: Any) -> None:
        if id(module) in self.switched:
            self.switched.discard(id(module))
            module.gradient_checkpointing_disable()
        for block in self.chosen.pop(id(module), []):
            self.models.leave_alone(block)


def _has_switch(module: Any) -> bool:
    """Returns true if the model offers the switch of transformers, and its class supports it."""
    names = ("gradient_checkpointing_enable", "gradient_checkpointing_disable")
    return (
        all(callable(getattr(module, name, None)) for name in names)
        and bool(getattr(module, "supports_gradient_checkpointing", False))
        and isinstance(getattr(module, "is_gradient_checkpointing", None), bool)
    )


def _switch_on(module: Any) -> None:
    parameters = inspect.signature(module.gradient_checkpointing_enable).parameters
    if "gradient_checkpointing_kwargs" in parameters:  # the other way loses gradients where the input needs none
        module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    else:
        module.gradient_checkpointing_enable()


@contextlib.contextmanager
def _counted_once(torch: Any, block: Any) -> Iterator[None]:
    """Batch norm normalises as in the first pass and leaves its statistics alone: nothing of them goes into a mean of momentum 0."""
    norms = [norm for norm in block.modules() if getattr(norm, "track_running_stats", False) and norm.training]
    before = [(norm.momentum, norm.num_batches_tracked) for norm in norms]
    counts = [None if count is None else count.clone() for _, count in before]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, (momentum, count), kept in zip(norms, before, counts):
            norm.momentum = momentum
            if count is not None:
                count.copy_(kept)


FIX = Checkpoint
