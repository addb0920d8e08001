# SPDX-License-Identifier: Apache-2.0
"""The contract of a fix, what fixes work with, and the class that those of `fixes/` derive from.

A fix is an object that lives as long as the process: what it keeps between switching on and off, it keeps in itself. `on` runs right
after `import torch`, before the script goes on, or between two steps. What a fix does later it reports through its `Report`.

Arguments of constructors are changed through `constructors`, models are found by `models`, everything else goes through the patches of
the context: constructors and methods of classes, never names of modules (but for the function of a model that `liger` takes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .backward import Backward
from .constructors import Constructors, Transform
from .context import Context
from .models import Models
from .optim import Optimizers
from .reports import Report, Reports

if TYPE_CHECKING:
    from .loader_switch import LoaderSwitch  # most processes do without


class Fix(Protocol):
    live: bool  # may be switched on and off between two steps of a running program

    def why_not(self, value: str) -> str:
        """Returns why it cannot be applied here at all; "" when it can."""

    def cannot_switch(self) -> str:
        """Returns why, though live, it can only be on from the start in this program; "" when it can be switched."""

    def on(self, value: str) -> str:
        """Applies it; returns what it changed now, "" when it waits for an object to be made."""

    def off(self) -> str:
        """Takes it back, and returns what it changed; called only where it is live."""

    def nothing(self) -> str:
        """Returns why it never took effect."""

    def in_child(self) -> None:
        """Called in the child after a fork."""


class Tools(NamedTuple):
    """The parts of the agent that fixes work with."""

    context: Context
    reports: Reports
    optimizers: Optimizers
    models: Models
    constructors: Constructors
    backward: Backward
    loader_switch: LoaderSwitch | None  # none without the option `switch_loaders`


class ProgramFix(Fix):
    """The base of the agent's fixes. Each has its own `on`, and overrides the rest as far as it differs."""

    live = False

    def __init__(self, tools: Tools, name: str) -> None:
        self.tools, self.context, self.torch = tools, tools.context, tools.context.torch
        self.report = Report(tools.reports, name)

    def why_not(self, value: str) -> str:
        return ""

    def cannot_switch(self) -> str:
        return ""

    def off(self) -> str:
        return ""

    def nothing(self) -> str:
        return "the program did nothing that it changes"

    def in_child(self) -> None:
        pass

    # Shared by several of them.

    def change_arguments(self, owner: Any, transform: Transform) -> None:
        """The constructor of the class `owner` gets the arguments that `transform` makes of those given."""
        self.tools.constructors.change(owner, self.report.name, transform)
