# SPDX-License-Identifier: Apache-2.0
"""Samples of a dataset in memory that a program and the workers it forks share, and which is gone when the last of them ends.

The memory is a file without a name (memfd). It begins with three numbers: bytes in use, why it was closed, samples served; then comes a
table of where each sample lies and how long it is; then the samples, pickled. Who adds one reserves its place under a lock of the file,
writes it, and enters it in the table last, so that nobody reads half a sample.
"""

from __future__ import annotations

import fcntl
import io
import mmap
import os
import pickle
import threading
from typing import Any

OPEN, RANDOM, CHANGES, FULL = range(4)
USED, STATE, SERVED, TABLE = 0, 1, 2, 3  # places of the head, in numbers of eight bytes


class SampleStore:
    """May raise OSError where the system has no such memory."""

    def __init__(self, torch: Any, count: int, limit: int) -> None:
        self.torch, self.count, self.limit = torch, count, limit
        self.file = os.memfd_create("gapless-samples")
        head_bytes = 8 * (TABLE + 2 * count)
        os.ftruncate(self.file, head_bytes)
        self.head = memoryview(mmap.mmap(self.file, head_bytes)).cast("Q")
        self.head[USED] = head_bytes
        self.adding = threading.Lock()

    @property
    def state(self) -> int:
        return self.head[STATE]

    @property
    def served(self) -> int:
        return self.head[SERVED]

    def close(self, why: int) -> None:
        """Nothing more is kept; except where it is only full, nothing more is served either."""
        self.head[STATE] = max(self.head[STATE], why) if why != FULL else self.head[STATE] or FULL

    def is_serving(self) -> bool:
        return self.head[STATE] in (OPEN, FULL)

    def get(self, index: int) -> tuple[Any] | None:
        """Returns the sample in a tuple; none: it is not kept."""
        length = self.head[TABLE + 2 * index + 1]
        if not length or not self.is_serving():
            return None
        self.head[SERVED] += 1  # processes may overwrite each other's: it only has to grow
        return (pickle.loads(os.pread(self.file, length, self.head[TABLE + 2 * index])),)

    def packed(self, sample: Any) -> bytes:
        """Raises what the sample raises when it cannot be pickled."""
        buffer = io.BytesIO()
        pickler(self.torch)(buffer, protocol=5).dump(sample)
        return buffer.getvalue()

    def add(self, index: int, packed: bytes) -> None:
        if self.head[STATE] != OPEN or not self.adding.acquire(blocking=False):
            return
        try:
            place = self._reserve(index, len(packed))
            if place is not None and os.pwrite(self.file, packed, place) == len(packed):
                self.head[TABLE + 2 * index] = place
                self.head[TABLE + 2 * index + 1] = len(packed)
        except OSError:  # no memory is left
            self.close(FULL)
        finally:
            self.adding.release()

    def _reserve(self, index: int, length: int) -> int | None:
        fcntl.lockf(self.file, fcntl.LOCK_EX)
        try:
            place = self.head[USED]
            if self.head[TABLE + 2 * index + 1]:
                return None
            if place + length > self.limit:
                self.close(FULL)
                return None
            self.head[USED] = place + length
            return place
        finally:
            fcntl.lockf(self.file, fcntl.LOCK_UN)


_PICKLERS: dict[int, Any] = {}


def pickler(torch: Any) -> Any:
    """The class of picklers that take plain tensors as arrays, which is many times as fast as torch's own way."""
    if id(torch) not in _PICKLERS:

        class Pickler(pickle.Pickler):
            def reducer_override(self, value: Any) -> Any:
                if type(value) is not torch.Tensor or value.requires_grad or not _is_plain(torch, value):
                    return NotImplemented
                order = sorted(range(value.dim()), key=lambda at: -value.stride(at))
                packed = value.permute(order)
                if not packed.is_contiguous():
                    return NotImplemented
                back = [order.index(at) for at in range(value.dim())]
                return _rebuilt, (packed.numpy(), back)

        _PICKLERS[id(torch)] = Pickler
    return _PICKLERS[id(torch)]


def _is_plain(torch: Any, value: Any) -> bool:
    return value.layout is torch.strided and value.device.type == "cpu" and value.dtype is not torch.bfloat16


def _rebuilt(array: Any, back: list[int]) -> Any:
    import torch

    return torch.from_numpy(array).permute(back)
