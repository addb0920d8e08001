# SPDX-License-Identifier: Apache-2.0
"""The allocator of the device: its counters now and then, its history and snapshots on request."""

from __future__ import annotations

import inspect
import os
from typing import Any

from . import layout
from .context import Context
from .own_files import make_file, remove

EVERY_STEPS = 20
HISTORY_ENTRIES = 100_000


class Memory:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard("the memory of the device", "What is allocated is not in the run from here on.")
        self.reset()

    def reset(self) -> None:
        self.snapshots = 0
        self.history = False

    def install(self) -> None:
        if self.context.options.memory_history:
            self.guard.at_end(self.at_end)

    def at_step(self, step: int) -> None:
        cuda = self.context.torch.cuda
        if not cuda.is_initialized():
            return
        if self.context.options.memory_history and not self.history:
            self.history = True
            self._keep_history(cuda.memory._record_memory_history)
        if step % EVERY_STEPS != 1:
            return
        stats = cuda.memory_stats_as_nested_dict(cuda.current_device())
        allocated: dict[str, Any] = stats["allocated_bytes"]["all"]
        self.context.emit(
            layout.KIND_MEMORY, value=cuda.current_device(), a=step - 1, b=int(allocated["peak"]),
            x=float(allocated["current"]), y=float(stats["reserved_bytes"]["all"]["current"]),
        )  # fmt: skip

    @staticmethod
    def _keep_history(switch: Any) -> None:
        if "trace_alloc_max_entries" in inspect.signature(switch).parameters:  # torch 2.0
            switch(True, trace_alloc_max_entries=HISTORY_ENTRIES, trace_alloc_record_context=True)
        else:
            switch(max_entries=HISTORY_ENTRIES)

    def snapshot(self) -> tuple[int, str]:
        """Answers as a command does."""
        cuda = self.context.torch.cuda
        dump = getattr(cuda.memory, "_dump_snapshot", None)
        if not cuda.is_initialized() or dump is None:
            return layout.ACK_NOT_APPLICABLE, "no memory of a device is in use"
        self.snapshots += 1
        name = f"memory-{os.getpid()}-{self.snapshots}.pickle"
        path = os.path.join(self.context.folder(), name)
        try:
            os.close(make_file(path + ".part"))
            dump(path + ".part")
            os.rename(path + ".part", path)
        except OSError:
            remove(path + ".part")
            raise
        return layout.ACK_DONE, name

    def at_end(self) -> None:
        if self.history:
            try:
                self.snapshot()
            except OSError as error:
                self.context.lost("the snapshot of the allocator", error)
