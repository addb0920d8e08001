# SPDX-License-Identifier: Apache-2.0
"""The control block of python/gapless/agent/README.md: commands of the launcher, obeyed at the step that all ranks agree on."""

from __future__ import annotations

import fcntl
import mmap
import os
import stat
import time
from typing import Callable, NamedTuple

from . import layout
from .context import Context
from .counts import NO_ORDERS

AHEAD = 3  # a command seen at the end of step s is obeyed at the start of step s + 3


class Command(NamedTuple):
    sequence: int
    command: int
    at_step: int
    argument: int
    text: str


# A handler carries out a command and returns the value of its acknowledgement and a text, which may be "".
Obey = Callable[[Command], "tuple[int, str]"]


class Control:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard(
            "the commands of its launcher",
            "Recordings, fixes and stops that are asked for from here on do not come.",
        )
        self.guard.let_go.append(self._deaf)
        self.obey: dict[int, Obey] = {}
        self.reset()

    def reset(self) -> None:
        self.looked = False
        self.due: list[Command] = []

    def _deaf(self) -> None:
        self.context.orders, self.context.obeyed = NO_ORDERS, 0

    def _open(self) -> None:
        self.looked = True
        try:
            self.handle = os.open(os.path.join(self.context.run, "control"), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return
        if not self._is_ours(os.fstat(self.handle)):
            os.close(self.handle)
            return
        self.map = mmap.mmap(self.handle, layout.CONTROL_BYTES)
        magic, version, header, slot, slots, _, _ = layout.CONTROL_HEADER.unpack_from(self.map, 0)
        expected = (layout.CONTROL_MAGIC, layout.VERSION, layout.CONTROL_HEADER_BYTES, layout.SLOT_BYTES, layout.SLOTS)
        if (magic, version, header, slot, slots) != expected:
            self.context.message(layout.WARNING, "the control block is of another version: commands are not obeyed")
            return
        self.context.orders = memoryview(self.map).cast("Q")[layout.SEQUENCE : layout.SEQUENCE + 1]

    def _is_ours(self, found: os.stat_result) -> bool:
        """Returns true if only the user of this process can have written the file, or can shorten it: a mapped file that
        becomes shorter ends the process (SIGBUS). The owner is compared with that of the ring, which this process made: over a
        network files may have another owner than their maker."""
        ring = self.context.ring
        owner = os.geteuid() if ring is None else os.stat(ring.path).st_uid
        trusted = stat.S_ISREG(found.st_mode) and found.st_uid == owner and not found.st_mode & 0o022
        if not trusted:
            self.context.message(
                layout.WARNING,
                "the control block belongs to somebody else or can be written by others: commands are not obeyed",
            )
        return trusted and found.st_size >= layout.CONTROL_BYTES

    def at_step(self, step: int) -> None:
        """Step `step` begins."""
        if not self.looked:
            self._open()
        newest = self.context.orders[0]
        if newest != self.context.obeyed:
            self._read(newest, step)
        if self.due:
            self._act(step)

    def _read(self, newest: int, step: int) -> None:
        first = max(self.context.obeyed + 1, newest - layout.SLOTS + 1)
        for sequence in range(first, newest + 1):
            offset = layout.CONTROL_HEADER_BYTES + ((sequence - 1) % layout.SLOTS) * layout.SLOT_BYTES
            at_step = self._agree(offset + layout.SLOT_AT_STEP, step - 1 + AHEAD)
            number, command, _, _, argument, _, text = layout.SLOT.unpack_from(self.map, offset)
            if number == sequence:
                words = text.split(b"\0", 1)[0].decode("utf-8", "replace")
                self.due.append(Command(sequence, command, at_step, argument, words))
        self.context.obeyed = newest

    def _agree(self, offset: int, proposal: int) -> int:
        """The step that the first rank to come wrote down."""
        word = memoryview(self.map).cast("q")
        fcntl.flock(self.handle, fcntl.LOCK_EX)
        try:
            if word[offset // 8] < 0:
                word[offset // 8] = proposal
            return word[offset // 8]
        finally:
            fcntl.flock(self.handle, fcntl.LOCK_UN)

    def _act(self, step: int) -> None:
        for command in [command for command in self.due if command.at_step <= step]:
            self.due.remove(command)
            obey = self.obey.get(command.command)
            if obey is None:
                value, text = layout.ACK_UNKNOWN, ""
            else:
                try:
                    value, text = obey(command)
                except Exception as error:
                    value, text = layout.ACK_FAILED, f"{type(error).__name__}: {error}"
            if value == layout.ACK_DONE and step > command.at_step:
                value = layout.ACK_LATE
            named = float(self.context.text(text)) if text else 0.0
            self.context.emit(
                layout.KIND_ACK, value=value, ts_ns=time.time_ns(), a=command.sequence, b=step, x=named
            )  # fmt: skip
            if self.context.ring is not None:
                self.context.ring.acknowledge(command.sequence)
