# SPDX-License-Identifier: Apache-2.0
"""Why the program ended, if an exception ended it: the interpreter keeps the last one for the debugger, and that is read at exit.

Nothing is hooked: `sys.excepthook` stays the program's.
"""

from __future__ import annotations

import sys
import traceback

from . import layout
from .context import Context


class Failures:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard("why the program ends", "The exception that ends it is not in the run.")

    def install(self) -> None:
        self.guard.at_end(self.at_end)

    def at_end(self) -> None:
        error = getattr(sys, "last_value", None)
        if not isinstance(error, BaseException) or self.context.ring is None:
            return
        full = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
        value = layout.FAILURE_OUT_OF_MEMORY if full else layout.FAILURE_EXCEPTION
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        text = self.context.text("".join(lines)[-8000:])
        self.context.emit(layout.KIND_FAILURE, value=value, a=text, b=self.context.step)
