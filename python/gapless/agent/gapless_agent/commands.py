# SPDX-License-Identifier: Apache-2.0
"""The functions that carry out the commands of the control block."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from . import layout
from .control import Command

if TYPE_CHECKING:
    from .install import Running

WARMUP = 1


class Commands:
    def __init__(self, running: Running) -> None:
        self.running = running
        self.guard = running.control.guard
        self.reset()

    def reset(self) -> None:
        self.stop_at: int | None = None

    def install(self) -> None:
        self.running.control.obey.update(
            {
                layout.COMMAND_RECORD: self.record,
                layout.COMMAND_FIX_ON: self.fix_on,
                layout.COMMAND_FIX_OFF: self.fix_off,
                layout.COMMAND_STOP: self.stop,
                layout.COMMAND_MEMORY: lambda _: self.running.memory.snapshot(),
                layout.COMMAND_PYTHON: lambda command: self.running.python.sample_for(command.argument),
            }
        )

    def record(self, command: Command) -> tuple[int, str]:
        return self.running.recorder.order(self.running.agent.step, command.argument, WARMUP)

    def fix_on(self, command: Command) -> tuple[int, str]:
        return self.running.fixes.switch_on(command.text)

    def fix_off(self, command: Command) -> tuple[int, str]:
        return self.running.fixes.switch_off(command.text)

    def stop(self, command: Command) -> tuple[int, str]:
        """As Ctrl-C: after the acknowledgement is written, and never from inside a hook's guard."""
        self.stop_at = self.running.agent.step + max(0, command.argument)
        self.running.agent.attention = True
        return layout.ACK_DONE, ""

    def at_step(self, step: int) -> None:
        if self.stop_at is not None and step >= self.stop_at:
            self.stop_at = None
            os.kill(os.getpid(), signal.SIGINT)
