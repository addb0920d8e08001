# SPDX-License-Identifier: Apache-2.0
"""The ring of python/gapless/agent/README.md, written by this process and read by the launcher.

Writers in this process may interrupt each other: other threads, and in the same thread a signal handler or the garbage collector.
A number is taken first, its record is written in one call, and `written` only ever grows; the lock keeps threads apart. So the
reader meets a slot either complete (its number is the one looked for) or not yet written at all.

A step is written word by word: between two steps the caches hold the program's data, and there packing (another library) costs more
than all of its words together.
"""

from __future__ import annotations

import errno
import mmap
import os
import threading
import time

from . import layout
from .own_files import make_file, make_folder, remove
from .place import Place

# Names of this module are found faster than those of another one.
HEADER_BYTES, RECORD_BYTES = layout.RING_HEADER_BYTES, layout.RECORD_BYTES
HEADER_WORDS, RECORD_WORDS = HEADER_BYTES // 8, RECORD_BYTES // 8
HEARTBEAT, WRITTEN, STEP, COST = layout.HEARTBEAT, layout.WRITTEN, layout.STEP, layout.COST
HOOK_CALLS, KIND_STEP, KIND_LOSS = layout.HOOK_CALLS, layout.KIND_STEP, layout.KIND_LOSS
FEW_RECORDS = 1024
pack_record = layout.RECORD.pack_into


class Ring:
    def __init__(self, folder: str, pid: int, capacity: int, place: Place, role: int, versions: str, host: str) -> None:
        self.capacity = min(1 << max(4, (capacity - 1).bit_length()), layout.MOST_RING_RECORDS)
        size = layout.RING_HEADER_BYTES + self.capacity * layout.RECORD_BYTES
        self.path, handle = _create(folder, pid)
        try:
            # A hole that the disk has no room for would kill the program (SIGBUS).
            os.posix_fallocate(handle, 0, size)
            self._map = mmap.mmap(handle, size)
        except OSError:
            remove(handle_path(self.path))
            raise
        finally:
            os.close(handle)
        self._map[:] = bytes(size)  # now, so that no step has to wait for a page
        self._words = memoryview(self._map).cast("q")
        self._reals = memoryview(self._map).cast("d")
        self._mask = self.capacity - 1
        self._next = 1
        self._texts = 0
        self._lock = threading.RLock()
        layout.RING_HEADER.pack_into(
            self._map, 0, layout.RING_MAGIC, layout.VERSION, layout.RING_HEADER_BYTES, layout.RECORD_BYTES, self.capacity,
            pid, time.time_ns(), place.rank, place.world_size, place.local_rank, layout.NONE, role, layout.STATE_RUNS,
        )  # fmt: skip
        self._put_text(layout.OFFSET_HOST, host)
        self._put_text(layout.OFFSET_VERSIONS, versions)
        self._words[layout.LAUNCHER] = _launcher()
        os.rename(handle_path(self.path), self.path)

    def write(
        self, kind: int, flags: int, value: int, ts_ns: int, dur_ns: int, a: int, b: int, x: float, y: float
    ) -> None:
        with self._lock:
            number = self._next
            self._next = number + 1
            offset = HEADER_BYTES + ((number - 1) & self._mask) * RECORD_BYTES
            pack_record(self._map, offset, number, kind, flags, value, ts_ns, dur_ns, a, b, x, y)
            self._publish(number)

    def write_step(
        self, flags: int, backwards: int, ts_ns: int, dur_ns: int, step: int, samples: int, wait_ns: int, cost_ns: int,
        loss: float | None,
    ) -> None:  # fmt: skip
        """The end of a step, and the loss of its only backward pass if that is known."""
        words, reals = self._words, self._reals
        with self._lock:
            number = self._next
            self._next = number + (1 if loss is None else 2)
            if loss is not None:
                at = HEADER_WORDS + ((number - 1) & self._mask) * RECORD_WORDS
                words[at] = number
                words[at + 1] = KIND_LOSS
                words[at + 2] = ts_ns + dur_ns
                words[at + 3] = 0
                words[at + 4] = step
                words[at + 5] = 0
                reals[at + 6] = loss
                words[at + 7] = 0
                number += 1
            at = HEADER_WORDS + ((number - 1) & self._mask) * RECORD_WORDS
            words[at] = number
            words[at + 1] = KIND_STEP | flags << 16 | backwards << 32
            words[at + 2] = ts_ns
            words[at + 3] = dur_ns
            words[at + 4] = step
            words[at + 5] = samples
            reals[at + 6] = wait_ns
            reals[at + 7] = cost_ns
            words[HEARTBEAT] = ts_ns + dur_ns
            if number > words[WRITTEN]:  # noqa: PLR1730 -- max() is one more call
                words[WRITTEN] = number

    def text(self, text: str) -> int:
        """Stores the text and returns its id, for the record that names it."""
        data = text.encode("utf-8", "replace")
        if len(data) > layout.TEXT_MAX_BYTES:
            data = data[: layout.TEXT_MAX_BYTES].decode("utf-8", "ignore").encode()
        with self._lock:
            self._texts += 1
            identity = self._texts
            for begin in range(0, max(len(data), 1), layout.TEXT_PIECE_BYTES):
                piece = data[begin : begin + layout.TEXT_PIECE_BYTES]
                more = layout.TEXT_MORE if begin + layout.TEXT_PIECE_BYTES < len(data) else 0
                number = self._next
                self._next = number + 1
                offset = layout.RING_HEADER_BYTES + ((number - 1) & self._mask) * layout.RECORD_BYTES
                layout.TEXT_RECORD.pack_into(
                    self._map, offset, number, layout.KIND_TEXT, len(piece) | more, identity, piece
                )
                self._publish(number)
        return identity

    def _publish(self, number: int) -> None:
        words = self._words
        words[layout.HEARTBEAT] = time.time_ns()
        words[layout.WRITTEN] = max(words[layout.WRITTEN], number)

    def progress(self, step: int, cost_ns: int, hook_calls: int) -> None:
        words = self._words
        words[STEP] = step
        words[COST] = max(0, cost_ns)
        words[HOOK_CALLS] = hook_calls

    def acknowledge(self, sequence: int) -> None:
        self._words[layout.ACKNOWLEDGED] = sequence

    def set_state(self, state: int) -> None:
        self._map[layout.OFFSET_STATE] = state

    def set_device(self, device: int) -> None:
        self._map[layout.OFFSET_DEVICE : layout.OFFSET_DEVICE + 4] = device.to_bytes(4, "little", signed=True)

    def _put_text(self, offset: int, text: str) -> None:
        data = text.encode("utf-8", "replace")[: layout.HEADER_TEXT_BYTES - 1]
        self._map[offset : offset + len(data)] = data


def handle_path(path: str) -> str:
    """Returns the path of the file until its header is complete."""
    folder, name = os.path.split(path)
    return os.path.join(folder, "." + name + ".part")


def _create(folder: str, pid: int) -> tuple[str, int]:
    """A file of a new name: a process that replaced itself (exec) keeps its id, and what it wrote before is kept too."""
    make_folder(folder)
    for attempt in range(1, 1000):
        path = os.path.join(folder, f"agent-{pid}.ring" if attempt == 1 else f"agent-{pid}-{attempt}.ring")
        if os.path.lexists(path) or os.path.lexists(path[: -len("ring")] + "events"):
            continue
        try:
            return path, make_file(handle_path(path))
        except FileExistsError:
            continue
    raise FileExistsError(folder)


def open_ring(folder: str, capacity: int, place: Place, role: int, versions: str, host: str) -> Ring | None:
    """Opens a ring of `capacity` records, or of a few if the disk is full: the launcher takes records out as they come."""
    for records in (capacity, min(capacity, FEW_RECORDS)):
        try:
            return Ring(folder, os.getpid(), records, place, role, versions, host)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                break
    return None


def _launcher() -> int:
    """The number of the launcher that started us, where several share the run folder."""
    number = os.environ.get("GAPLESS_LAUNCHER", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
