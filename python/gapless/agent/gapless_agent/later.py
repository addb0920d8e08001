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

from .agent import Agent

KEPT = 64


_TYPES: dict[str, Any] = {
    "torch.float32": ctypes.c_float,
    "torch.float64": ctypes.c_double,
    "torch.bfloat16": ctypes.c_uint16,
    "torch.float16": ctypes.c_uint16,
}


_SEEN: dict[Any, tuple[Any, str]] = {}  # by the type itself: its name takes longer to make


def in_memory(tensor: Any) -> float | None:
    """The number of a tensor in the memory of the host, without an operation of torch: those are recorded by profilers."""
    dtype = tensor.dtype
    known = _SEEN.get(dtype)
    if known is None:
        name = str(dtype)
        known = _SEEN[dtype] = (_TYPES.get(name), name)
    kind, name = known
    address = tensor.data_ptr()
    if kind is None or not address:
        return None
    value = kind.from_address(address).value
    if name == "torch.bfloat16":
        return float(struct.unpack("<f", struct.pack("<I", value << 16))[0])
    if name == "torch.float16":
        return float(struct.unpack("<e", struct.pack("<H", value))[0])
    return float(value)


class Later:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.reset()

    def reset(self) -> None:
        self.waiting: deque[tuple[Any, Any, Callable[[float], None]]] = deque(maxlen=KEPT)
        self.streams: dict[int, Any] = {}

    def read(self, tensor: Any, known: Callable[[float], None], changes: bool = False) -> None:
        """Calls `known` with the tensor's only number, now if it is in memory, else some steps later. `changes`: the program
        writes into the tensor, so a device's is copied."""
        device = tensor.device.type
        if device == "cpu":
            value = in_memory(tensor)
            if value is not None:
                known(value)
            return
        torch = self.agent.torch
        if device != "cuda" or torch.cuda.is_current_stream_capturing():
            return
        event = torch.cuda.Event()
        kept = tensor.detach().clone() if changes else tensor.detach()
        event.record(torch.cuda.current_stream(tensor.device))
        self.waiting.append((kept, event, known))

    def at_step(self, _step: int) -> None:
        """Reads the oldest one if it is there; not while a profiler runs, which would record the reading as the program's."""
        torch = self.agent.torch
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
