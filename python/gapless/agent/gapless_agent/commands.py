# SPDX-License-Identifier: Apache-2.0
"""The functions that carry out the commands of the control block."""

from __future__ import annotations

import os
import signal

from . import layout
from .context import Context
from .control import Command, Control
from .fixing import Fixes
from .memory import Memory
from .python_profile import PythonProfile
from .recorder import Recorder

WARMUP = 1


class Commands:
    def __init__(
        self,
        context: Context,
        control: Control,
        recorder: Recorder,
        fixes: Fixes,
        memory: Memory,
        python: PythonProfile,
    ) -> None:
        self.context, self.control, self.recorder = context, control, recorder
        self.fixes, self.memory, self.python = fixes, memory, python
        self.guard = control.guard
        self.reset()

    def reset(self) -> None:
        self.stop_at: int | None = None

    def install(self) -> None:
        self.control.obey.update(
            {
                layout.COMMAND_RECORD: self.record,
                layout.COMMAND_FIX_ON: self.fix_on,
                layout.COMMAND_FIX_OFF: self.fix_off,
                layout.COMMAND_STOP: self.stop,
                layout.COMMAND_MEMORY: lambda _: self.memory.snapshot(),
                layout.COMMAND_PYTHON: lambda command: self.python.sample_for(command.argument),
            }
        )

    def record(self, command: Command) -> tuple[int, str]:
        return self.recorder.order(self.context.step, command.argument, WARMUP)

    def fix_on(self, command: Command) -> tuple[int, str]:
        return self.fixes.switch_on(command.text)

    def fix_off(self, command: Command) -> tuple[int, str]:
        return self.fixes.switch_off(command.text)

    def stop(self, command: Command) -> tuple[int, str]:
        """As Ctrl-C: after the acknowledgement is written, and never from inside a hook's guard."""
        self.stop_at = self.context.step + max(0, command.argument)
        self.context.attention = True
        return layout.ACK_DONE, ""

    def at_step(self, step: int) -> None:
        if self.stop_at is not None and step >= self.stop_at:
            self.stop_at = None
            os.kill(os.getpid(), signal.SIGINT)
