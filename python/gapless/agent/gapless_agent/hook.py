# SPDX-License-Identifier: Apache-2.0
"""The contract of a hook of `hooks/`, and the parts of the agent that it may build on.

A hook watches one thing that the program does, or has done by its libraries. It puts nothing into the program but through its guard: its
patches (`guard.patches.wrap`), which are undone when an error ends the observation, and beside them what `guard.let_go` is told to undo.
"""

from __future__ import annotations

from typing import NamedTuple

from .backward import Backward
from .by_hand import ByHand
from .context import Context
from .guard import Guard
from .later import Later
from .optim import Optimizers
from .steps import Steps


class Parts(NamedTuple):
    context: Context
    steps: Steps
    later: Later
    optimizers: Optimizers
    backward: Backward
    by_hand: ByHand


class Hook:
    full = True  # in the mode "step" alone, not in "light"
    busy = False  # `at_step` is to be called when the next step begins; `context.attention` is set with it
    guard: Guard

    def __init__(self, parts: Parts) -> None:
        """Makes the guard. Nothing is watched yet."""
        self.context = parts.context

    def install(self) -> None:
        """Watches from here on, or adds itself to those that are told. What this raises ends the observation."""

    def at_step(self, step: int) -> None:
        """Step `step` begins."""

    def reset(self) -> None:
        """In the child after a fork."""
