# SPDX-License-Identifier: Apache-2.0
"""Backward passes: how many a step has, and the loss each started from."""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING, Any, Callable

from . import layout
from .agent import Agent
from .later import Later
from .optim import Optimizers
from .patches import hide

if TYPE_CHECKING:
    from .by_hand import ByHand

LOSSES_PER_STEP = 8


class Backward:
    def __init__(self, agent: Agent, optimizers: Optimizers, later: Later) -> None:
        self.agent, self.optimizers, self.later = agent, optimizers, later
        self.losses = agent.guard("losses", "No loss is in the run from here on; backward passes are still counted.")
        self.guard = agent.guard(
            "backward passes", "How many a step has is not known, and no loss is in the run from here on."
        )
        self.outer: ByHand | None = None  # around this one's wrapper, while there is no optimiser
        self.root: Callable[[Any], None] = self._root
        self.in_memory = later.host.read
        self.followers: list[Callable[[Any], None]] = []  # are given the loss of each pass
        self.reset()

    def reset(self) -> None:
        self.step = -1
        self.index = 0

    def install(self) -> None:
        # Tensor.backward calls torch.autograd.backward: one place for both, and Tensor stays as it is.
        self.guard.patches.wrap(self.agent.torch.autograd, "backward", self._around)
        if self.outer is not None:
            self.outer.put_on()

    def inside(self, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Puts a wrapper between this one and torch's own: it does not change what is recorded of the loss."""
        owner = self.agent.torch.autograd
        if self.outer is not None:
            self.outer.take_off()
        self.guard.patches.unwrap(owner, "backward")
        self.agent.patches.wrap(owner, "backward", make)
        self.install()

    def leave_out(self, wrapped: Callable[[Any], Any]) -> None:
        self.root = wrapped(self._root)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        agent, look = self.agent, self._look

        def backward(*args: Any, **kwargs: Any) -> Any:
            if agent.on:
                agent.backwards += 1
                if agent.looks:
                    look(args, kwargs)
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return backward

    def _look(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        agent = self.agent
        entered = agent.clock()
        roots = args[0] if args else kwargs.get("tensors")
        if self.losses.on:
            try:
                self.root(roots)
            except Exception as error:
                self.losses.failed(error)
        agent.cost_ns += agent.clock() - entered

    def _root(self, roots: Any) -> None:
        agent, step = self.agent, self.agent.step
        if self.step != step:
            self.step, self.index = step, 0
        if type(roots) is not self.agent.tensor:
            if isinstance(roots, (list, tuple)):
                roots = roots[0] if len(roots) == 1 else None
            if not isinstance(roots, self.agent.tensor):
                return
        if roots.numel() != 1:
            return
        if agent.scaled is not None:
            scaled, loss = agent.scaled
            agent.scaled = None
            roots = loss if roots is scaled else roots
        for follower in self.followers:
            follower(roots)
        index = self.index
        self.index = index + 1
        if index == 0 and roots.is_cpu:
            agent.loss = self.in_memory(roots)  # written with the step, see ring.py
        elif index < LOSSES_PER_STEP:
            agent.emit_loss()
            when, write = time_ns(), agent.emit
            self.later.read(roots, lambda loss: write(layout.KIND_LOSS, ts_ns=when, a=step, b=index, x=loss))
