# SPDX-License-Identifier: Apache-2.0
"""Throughput, memory and time of single steps, measured by the program itself."""

from __future__ import annotations

import sys
import time
from typing import Any


class PerformanceTracker:
    """`start_step()` before a step and `end_step(batch_size)` after it. On a GPU both wait for the device: the time is the step's own."""

    def __init__(self) -> None:
        self.history: list[dict[str, float | None]] = []
        self._started: float | None = None

    def start_step(self) -> None:
        self._wait()
        self._started = time.perf_counter()

    def end_step(self, batch_size: int) -> dict[str, float | None]:
        """Samples per second, memory allocated on the device in GiB (None without one), and milliseconds."""
        if self._started is None:
            raise RuntimeError("end_step() without start_step()")
        cuda = self._wait()
        seconds = time.perf_counter() - self._started
        self._started = None
        memory_gb = None if cuda is None else cuda.memory_allocated() / (1 << 30)
        found = {"throughput": batch_size / seconds, "memory_gb": memory_gb, "step_time_ms": seconds * 1e3}
        self.history.append(found)
        return found

    @staticmethod
    def _wait() -> Any:
        """Answers torch.cuda when it is in use."""
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            return None
        torch.cuda.synchronize()
        return torch.cuda
