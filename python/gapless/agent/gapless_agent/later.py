# SPDX-License-Identifier: Apache-2.0
"""Reading numbers that lie on a device, without ever waiting for it.

`tensor.item()` waits for everything that was queued on the current stream. Here a tensor is kept with an event recorded behind what
computes it; once the event is done, some steps later, the number is read on a stream of our own, where nothing is queued. At most one
is read at the end of a step, and what does not come within KEPT readings is dropped: absent, not wrong.
"""

from __future__ import annotations

import ctypes
import struct
from collections import deque
from typing import Any, Callable

from .context import Context

KEPT = 64


# The memory of this process as one array of each type, so that a number is read by its address. ctypes could make an object there
# each time, which takes twice as long where caches are cold.
_MEMORY = memoryview((ctypes.c_char * (1 << 62)).from_address(0)).cast("B")
_FLOATS, _DOUBLES, _HALVES = _MEMORY.cast("f"), _MEMORY.cast("d"), _MEMORY.cast("H")


def bytes_at(address: int, count: int) -> bytes:
    """Reads memory of this process; the caller knows that the address is valid."""
    return _MEMORY[address : address + count].tobytes()


def _from_bfloat16(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])


def _from_float16(bits: int) -> float:
    return float(struct.unpack("<e", struct.pack("<H", bits))[0])


class HostNumbers:
    """Reads numbers in the memory of the host without an operation of torch, which a profiler would record."""

    def __init__(self, torch: Any) -> None:
        self.float32 = torch.float32
        self.others: dict[Any, tuple[Any, int, Callable[[Any], float]]] = {
            torch.float64: (_DOUBLES, 3, float),
            torch.bfloat16: (_HALVES, 1, _from_bfloat16),
            torch.float16: (_HALVES, 1, _from_float16),
        }

    def read(self, tensor: Any) -> float | None:
        """The number of a tensor that has one; none when it has no memory or another type."""
        address: int = tensor.data_ptr()
        if not address:
            return None
        dtype = tensor.dtype
        if dtype is self.float32:
            return float(_FLOATS[address >> 2])
        if dtype not in self.others:
            return None
        memory, shift, number = self.others[dtype]
        return number(memory[address >> shift])


class Later:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard(
            "numbers that lie on a device", "Losses and loss scales there are not in the run from here on."
        )
        self.host = HostNumbers(context.torch)
        self.reset()

    def reset(self) -> None:
        self.waiting: deque[tuple[Any, Any, Callable[[float], None]]] = deque(maxlen=KEPT)
        self.streams: dict[int, Any] = {}

    def read(self, tensor: Any, known: Callable[[float], None], changes: bool = False) -> None:
        """Calls `known` with the tensor's only number, now if it is in memory, else some steps later. `changes`: the program
        writes into the tensor, so a device's is copied."""
        if not self.guard.on:
            return
        device = tensor.device.type
        if device == "cpu":
            value = self.host.read(tensor)
            if value is not None:
                known(value)
            return
        torch = self.context.torch
        if device != "cuda" or torch.cuda.is_current_stream_capturing():
            return
        event = torch.cuda.Event()
        kept = tensor.detach().clone() if changes else tensor.detach()
        event.record(torch.cuda.current_stream(tensor.device))
        self.waiting.append((kept, event, known))
        self.context.attention = True

    def at_step(self, _step: int) -> None:
        """Reads the oldest one if it is there; not while a profiler runs, which would record the reading as the program's."""
        torch = self.context.torch
        if not self.waiting or torch._C._autograd._profiler_enabled() or not self.waiting[0][1].query():
            return
        if torch.cuda.is_current_stream_capturing():
            return
        tensor, _, known = self.waiting.popleft()
        device = tensor.device.index or 0
        stream = self.streams.get(device)
        if stream is None:
            stream = self.streams[device] = torch.cuda.Stream(tensor.device)
        with torch.cuda.stream(stream):
            value = float(tensor.item())
        known(value)
