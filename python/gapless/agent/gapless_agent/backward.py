# SPDX-License-Identifier: Apache-2.0
"""Backward passes: how many a step has, and the loss each started from."""

from __future__ import annotations

from time import time_ns
from typing import Any, Callable

from . import layout
from .context import Context
from .later import Later
from .optim import Optimizers
from .patches import hide

LOSSES_PER_STEP = 8


class Backward:
    def __init__(self, context: Context, optimizers: Optimizers, later: Later) -> None:
        self.context, self.optimizers, self.later = context, optimizers, later
        self.losses = context.guard("losses", "No loss is in the run from here on; backward passes are still counted.")
        self.guard = context.guard(
            "backward passes", "How many a step has is not known, and no loss is in the run from here on."
        )
        self.outer: tuple[Callable[[], None], Callable[[], None]] | None = None  # see `surrounded`
        self.root: Callable[[Any], None] = self._root
        self.in_memory = later.host.read
        self.followers: list[Callable[[Any], None]] = []  # are given the loss of each pass
        self.told = False  # a fix tells the losses, by `tell`: those that passes start from are not the program's
        self.reset()

    def reset(self) -> None:
        self.step = -1
        self.index = 0
        self.scaled: tuple[Any, Any] | None = None  # what GradScaler made of a loss, and the loss

    def install(self) -> None:
        # Tensor.backward calls torch.autograd.backward: one place for both, and Tensor stays as it is.
        self.guard.patches.wrap(self.context.torch.autograd, "backward", self._around)
        if self.outer is not None:
            self.outer[0]()

    def surrounded(self, put_on: Callable[[], None], take_off: Callable[[], None]) -> None:
        """Another wrapper, which these functions put on and take off, lies around this one."""
        self.outer = (put_on, take_off)

    def inside(self, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Puts a wrapper between this one and torch's own: it does not change what is recorded of the loss."""
        owner = self.context.torch.autograd
        if self.outer is not None:
            self.outer[1]()
        self.guard.patches.unwrap(owner, "backward")
        self.context.patches.wrap(owner, "backward", make)
        self.install()

    def leave_out(self, wrapped: Callable[[Any], Any]) -> None:
        self.root = wrapped(self._root)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context, look = self.context, self._look

        def backward(*args: Any, **kwargs: Any) -> Any:
            if context.on:
                context.backwards += 1
                if context.looks:
                    look(args, kwargs)
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return backward

    def _look(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        context = self.context
        entered = context.clock()
        roots = args[0] if args else kwargs.get("tensors")
        if not self.told:
            self.tell(roots)
        context.cost_ns += context.clock() - entered

    def tell(self, loss: Any) -> None:
        """A pass has that loss."""
        if self.losses.on:
            try:
                self.root(loss)
            except Exception as error:
                self.losses.failed(error)

    def _root(self, roots: Any) -> None:
        context, step = self.context, self.context.step
        if self.step != step:
            self.step, self.index = step, 0
        if type(roots) is not self.context.tensor:
            if isinstance(roots, (list, tuple)):
                roots = roots[0] if len(roots) == 1 else None
            if not isinstance(roots, self.context.tensor):
                return
        if roots.numel() != 1:
            return
        if self.scaled is not None:
            scaled, loss = self.scaled
            self.scaled = None
            roots = loss if roots is scaled else roots
        for follower in self.followers:
            follower(roots)
        index = self.index
        self.index = index + 1
        if index == 0 and roots.is_cpu:
            context.loss = self.in_memory(roots)  # written with the step, see ring.py
        elif index < LOSSES_PER_STEP:
            context.emit_loss()
            when, write = time_ns(), context.emit
            self.later.read(roots, lambda loss: write(layout.KIND_LOSS, ts_ns=when, a=step, b=index, x=loss))
