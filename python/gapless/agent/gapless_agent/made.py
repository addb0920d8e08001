# SPDX-License-Identifier: Apache-2.0
"""The lines of the user's code that construct what findings and fixes name: loaders, optimisers, wrappers around a model, scalers.

A finding is seen where an object is used (`optimizer.step()`, the loop over a loader), and cured where it is made, often in another
file. A loader's line goes with its record, an optimiser's with its own; the others are told when the first optimiser steps, for a
process that makes one of them need not train.
"""

from __future__ import annotations

import weakref
from typing import Any, Callable

from . import layout
from .context import Context
from .edits import constructing, line_at
from .patches import after_init


class Made:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard("where objects are constructed", "Findings name the lines that use them instead.")
        self.lines: dict[int, tuple[Any, str]] = {}  # by id, with a reference that drops the entry
        self.untold: list[dict[str, str]] = []
        self.told = 0

    def install(self) -> None:
        from torch.utils.data import DataLoader

        torch = self.context.torch
        self.guard.patches.wrap(DataLoader, "__init__", lambda original: self._around(original, False))
        scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        for kind in (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel, scaler):
            self.guard.patches.wrap(kind, "__init__", lambda original: self._around(original, True))

    def _around(self, original: Callable[..., Any], tells: bool) -> Callable[..., Any]:
        def noted(made: Any) -> None:
            line = self.note(made)
            if tells and line:
                self.untold.append({"class": type(made).__name__, "line": line})

        return after_init(original, noted)

    def note(self, made: Any) -> str:
        """Keeps the line that constructs the object; called from inside its constructor."""
        try:
            found = constructing(made) if self.guard.on else None
            if found is None:
                return ""
            line, identity, lines = line_at(found[0]), id(made), self.lines
            lines[identity] = (weakref.ref(made, lambda _: lines.pop(identity, None)), line)
            return line
        except Exception as error:
            self.guard.failed(error)
            return ""

    def line_of(self, made: Any) -> str:
        reference, line = self.lines.get(id(made), (None, ""))
        return line if reference is not None and reference() is made else ""

    def tell(self) -> None:
        """The process trains."""
        untold, self.untold = self.untold, []
        for about in untold:
            self.context.emit(layout.KIND_MADE, a=self.context.json(about), b=self.told)
            self.told += 1
