# SPDX-License-Identifier: Apache-2.0
"""A model that trains, what each fix does around its calls, and what a call changes beside its result. Used by `models.py`."""

from __future__ import annotations

import weakref
from typing import Any, Callable, NamedTuple

from . import edits
from .reports import Report

Call = Callable[..., Any]


class Known(NamedTuple):
    """The place where the script makes its optimiser, and the names of its modules there."""

    place: edits.Place
    names: dict[int, str]


class Root:
    def __init__(self, module: Any, trains: bool) -> None:
        self.module = weakref.ref(module)
        self.trains = trains
        self.layers: list[Layer] = []
        self.tried: set[Layer] = set()
        self.call_place: edits.Place | None = None  # the statement that calls it
        self.call_name = ""  # and what it is called there
        self.setup: tuple[edits.Place, str] | None = None  # a line before which one can write `name.…`


class Layer:
    """The change that one fix makes to a root module. Each fix derives its own class."""

    training_only = True  # around calls with gradients only
    traces = False  # the call is looked at by a compiler, which must not meet a wrapper of ours

    def __init__(self, torch: Any, report: Report) -> None:
        self.torch, self.report, self.fix = torch, report, report.name

    def found(self, root: Root, module: Any) -> str:
        """A root, before its first call; says why it is not for this fix, else "" ."""
        return ""

    def before(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        return args, kwargs

    def context(self, module: Any) -> Any:
        """A context manager around the call, or None."""
        return None

    def call(self, module: Any, call: Call) -> Call:
        """The function that is called instead."""
        return call

    def after(self, module: Any, result: Any) -> Any:
        return result

    def works(self, root: Root, module: Any) -> None:
        """Reports the change, after the first call succeeded."""

    def lost(self, root: Root, module: Any) -> None:
        """Takes back what `found` did."""


class State:
    """The state that a forward pass changes besides its result."""

    def __init__(self, torch: Any, module: Any) -> None:
        self.torch = torch
        self.cpu = torch.get_rng_state()
        self.cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
        self.buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]

    def restore(self) -> None:
        self.torch.set_rng_state(self.cpu)
        if self.cuda is not None:
            self.torch.cuda.set_rng_state_all(self.cuda)
        with self.torch.no_grad():
            for buffer, before in self.buffers:
                buffer.copy_(before)
