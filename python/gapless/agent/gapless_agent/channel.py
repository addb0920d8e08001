# SPDX-License-Identifier: Apache-2.0
"""Records of this process that go into its ring, and its folder of the run. The ring is made when there is first something to say."""

from __future__ import annotations

import json
import os
import platform
import sys
import threading
import time
from typing import Any, Callable

from . import job_role, layout, packages
from .counts import Counts
from .options import Options
from .own_files import make_folder
from .place import Place, find_place
from .ring import Ring, open_ring

WORKER_RECORDS = 4096


def _nothing() -> None:
    """Stands for what a part of the agent does, until there is one."""


class Channel(Counts):
    def __init__(self, torch: Any, run: str, options: Options) -> None:
        super().__init__(torch.Tensor)
        self.torch = torch
        self.run = run
        self.options = options
        self.write_held: Callable[[], None] = _nothing  # writes the steps that wait, see step_writer.py
        self.when_opened: Callable[[], None] = _nothing

    def reset(self) -> None:
        super().reset()
        self.ring: Ring | None = None
        self.opening = threading.RLock()  # what is said while the ring is made comes from the same thread
        self.ring_failed = False
        self.place: Place | None = None

    def open(self) -> Ring | None:
        """The ring, made when there is first something to say; by one thread, where several have."""
        if self.ring is None and not self.ring_failed and self.on:
            with self.opening:
                self._open()
        return self.ring

    def _open(self) -> None:
        if self.ring is None and not self.ring_failed:
            self.place = find_place()
            folder = os.path.join(self.run, self.place.folder)
            versions = f"python {platform.python_version()} torch {self.torch.__version__}"
            role, capacity = self.role(), self.options.ring_records
            if role == layout.ROLE_LOADS:  # many of them, with little to say
                capacity = min(capacity, WORKER_RECORDS)
            self.ring = open_ring(folder, capacity, self.place, role, versions, platform.node())
            self.ring_failed = self.ring is None
            if self.ring is not None:
                self._introduce()
            self.when_opened()

    def _introduce(self) -> None:
        """Says the purpose of the process in its job, and the packages of kernels that it could import."""
        about = (job_role.role(), job_role.actor_name(), job_role.program(), packages.importable())
        for value, text in enumerate(about):
            if text:
                self.emit(layout.KIND_PROCESS, value=value, a=self.text(text[:256]))

    def role(self) -> int:
        data = sys.modules.get("torch.utils.data")
        worker = data.get_worker_info() if data is not None else None
        return layout.ROLE_TRAINS if worker is None else layout.ROLE_LOADS

    def folder(self) -> str:
        """The folder of this process in the run; exists."""
        if self.place is None:
            self.place = find_place()
        return make_folder(os.path.join(self.run, self.place.folder))

    def emit(
        self,
        kind: int,
        *,
        value: int = 0,
        flags: int = 0,
        ts_ns: int = 0,
        dur_ns: int = 0,
        a: int = 0,
        b: int = 0,
        x: float = 0.0,
        y: float = 0.0,
    ) -> None:
        """One record, behind those of the steps that ended before."""
        if self.held:
            self.write_held()
        ring = self.open()
        if ring is not None:
            ring.write(kind, flags, value, ts_ns or time.time_ns(), dur_ns, a, b, x, y)

    def emit_loss(self) -> None:
        """The loss that was kept for the end of its step is written now."""
        loss, self.loss = self.loss, None
        if loss is not None:
            self.emit(layout.KIND_LOSS, a=self.step, x=loss)

    def text(self, text: str) -> int:
        ring = self.open()
        return 0 if ring is None else ring.text(text)

    def json(self, value: Any) -> int:
        return self.text(json.dumps(value, default=str, separators=(",", ":")))

    def message(self, level: int, text: str) -> None:
        self.emit(layout.KIND_MESSAGE, value=level, a=self.text(text), b=self.step)

    def lost(self, what: str, error: BaseException) -> None:
        """Something was to be written into the run and is not there; all else goes on."""
        self.message(layout.ERROR, f"{what} could not be written: {type(error).__name__}: {error}")
