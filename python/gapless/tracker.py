# SPDX-License-Identifier: Apache-2.0
"""Throughput, memory and time of single steps, measured by the program itself."""

from __future__ import annotations

import sys
import time
from typing import Any

from .host import GB, SOURCE, resident_gb


class PerformanceTracker:
    """`start_step()` before a step and `end_step(batch_size)` after it. On a GPU both wait for the device: the time is the step's own.

    >>> tracker = PerformanceTracker()
    >>> tracker.start_step()
    >>> sorted(tracker.end_step(batch_size=32))
    ['memory_gb', 'memory_source', 'step_time_ms', 'throughput']
    """

    def __init__(self) -> None:
        self.history: list[dict[str, Any]] = []
        self._started: float | None = None

    def start_step(self) -> None:
        """Begins a step."""
        self._wait()
        self._started = time.perf_counter()

    def end_step(self, batch_size: int) -> dict[str, Any]:
        """Returns `throughput` (samples per second), `step_time_ms`, and `memory_gb` in 1e9 bytes.

        `memory_source` is "allocator" for memory that PyTorch allocated on the GPU, "host" for the resident memory of this process, where
        no GPU is in use. Raises RuntimeError without start_step().
        """
        if self._started is None:
            raise RuntimeError("cannot end a step that was not begun: call start_step() first")
        cuda = self._wait()
        seconds = time.perf_counter() - self._started
        self._started = None
        memory_gb, source = (resident_gb(), SOURCE) if cuda is None else (cuda.memory_allocated() / GB, "allocator")
        found = {
            "throughput": batch_size / seconds, "memory_gb": memory_gb, "memory_source": source, "step_time_ms": seconds * 1e3,
        }  # fmt: skip
        self.history.append(found)
        return found

    @staticmethod
    def _wait() -> Any:
        """Waits for the GPU; returns torch.cuda if it is in use."""
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            return None
        torch.cuda.synchronize()
        return torch.cuda
