# SPDX-License-Identifier: Apache-2.0
"""Device time of a step: an event on the current stream at every boundary, read when it is long done.

Nothing waits: an event is asked whether it is done, and the time between two is read then. What is not done within KEPT steps is
dropped.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from . import layout
from .context import Context
from .steps import Steps

KEPT = 64
READ_PER_STEP = 2


class DeviceTime:
    def __init__(self, context: Context, steps: Steps) -> None:
        self.context, self.steps = context, steps
        self.guard = context.guard(
            "how long steps take on the device", "Only their time on the host is known from here on."
        )
        self.reset()

    def reset(self) -> None:
        self.last: Any | None = None
        self.last_device = layout.NONE
        self.started = 0
        self.waiting: deque[tuple[int, int, int, Any, Any]] = deque(maxlen=KEPT)
        self.free: list[Any] = []

    def install(self) -> None:
        pass

    def at_step(self, step: int) -> None:
        cuda = self.context.torch.cuda
        if not cuda.is_initialized() or cuda.is_current_stream_capturing():
            self.last = None
            return
        device = cuda.current_device()
        event = self.free.pop() if self.free else cuda.Event(enable_timing=True)
        event.record()
        if self.last is None:
            if self.context.ring is not None:
                self.context.ring.set_device(device)
        elif device == self.last_device:
            self.waiting.append((step - 1, self.started, device, self.last, event))
        self.last, self.last_device = event, device
        self.started = self.steps.writer.unix(self.context.begun[0])
        for _ in range(READ_PER_STEP):
            if not self._read():
                break

    def _read(self) -> bool:
        if not self.waiting or not self.waiting[0][4].query():
            return False
        step, when, device, begin, end = self.waiting.popleft()
        dur_ns = int(begin.elapsed_time(end) * 1e6)
        self.context.emit(layout.KIND_GPU_STEP, value=device, ts_ns=when, dur_ns=dur_ns, a=step)
        self.free.append(begin)  # its end is the next one's begin, and still in use
        return True
