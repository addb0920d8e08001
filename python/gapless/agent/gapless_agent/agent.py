# SPDX-License-Identifier: Apache-2.0
"""The state that all hooks of this process share: options, ring, totals, and the switch that turns everything off.

Hooks add to running totals (batches, waits, backward passes, own cost); a step's values are the differences between two
boundaries, so a boundary can also be drawn afterwards. A process has one `Agent`, `it`; after a fork the child starts anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Callable

from . import layout
from .counts import Counts
from .guard import Guard, describe
from .options import Options, read_options
from .own_files import make_folder
from .patches import Patches
from .place import Place, find_place
from .ring import Ring, open_ring

if TYPE_CHECKING:
    from .backward import Backward
    from .constructors import Constructors
    from .fixing import Fixes
    from .loader_switch import LoaderSwitch
    from .made import Made
    from .models import Models

NAN = float("nan")
WORKER_RECORDS = 4096
NO_ORDERS = [0]


class Agent(Counts):
    # The objects that fixes work with; install.py sets them.
    fixes: Fixes
    made: Made
    models: Models
    constructors: Constructors
    backward: Backward
    loader_switch: LoaderSwitch | None = None  # none without the option `switch_loaders`
    scaled: tuple[Any, Any] | None  # what GradScaler made of a loss, and the loss

    def __init__(self, torch: Any, run: str, options: Options) -> None:
        super().__init__(torch.Tensor)
        self.torch = torch
        self.run = run
        self.options = options
        self.patches = Patches()
        self.ends: list[Callable[[], None]] = []  # what to do when the process ends, in order
        self.guards: list[Guard] = []
        self.each_second: list[Callable[[], None]] = []  # what to do between two steps about once a second
        self.complaints: list[str] = []  # what was switched off, in the words of its message
        self.unsaid: list[str] = []  # of these, what the ring does not have yet
        self.write_held: Callable[[], None] = lambda: None
        self.installing = False
        self.on = self.counts_steps = self.counts_batches = True
        self.reset()

    def reset(self) -> None:
        """As a new process: at the start, and in the child after a fork."""
        self.ring: Ring | None = None
        self.opening = threading.RLock()  # what is said while the ring is made comes from the same thread
        self.ring_failed = False
        self.place: Place | None = None
        self.step = 0
        self.cost_ns = 0
        self.blocked_ns = 0  # that steps waited for evaluations and other work beside the training
        self.hook_calls = 0
        self.backwards = 0
        self.samples = 0
        self.samples_unknown = 0
        self.wait_ns = 0
        self.loss = None
        self.scaled = None
        self.held.clear()
        self.orders = NO_ORDERS
        self.obeyed = 0
        self.ended = False
        self.attention = True
        self.step_flags = 0
        self.looks = self.options.full
        self.in_loader = False
        self.sole = self.fired_ns = self.due_ns = 0
        self.unsaid = list(self.complaints)

    # Records that go into the ring.

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
            if self.unsaid:
                self.say_unsaid()

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

    def guard(self, what: str, lost: str, flag: str = "") -> Guard:
        self.guards.append(Guard(self, what, lost, flag))
        return self.guards[-1]

    def complain(self, text: str) -> None:
        """Something is no longer watched. A process that only imports torch does not say so."""
        self.complaints.append(text)
        self.unsaid.append(text)
        if not self.installing:
            self.say_unsaid()

    def say_unsaid(self) -> None:
        try:
            while self.unsaid:
                self.message(layout.ERROR, self.unsaid.pop(0))
        except Exception as error:  # the ring itself
            self.fail(error)

    def lost(self, what: str, error: BaseException) -> None:
        """Something was to be written into the run and is not there; all else goes on."""
        self.message(layout.ERROR, f"{what} could not be written: {type(error).__name__}: {error}")

    # Switching off.

    def fail(self, error: BaseException) -> None:
        """An error of our own: everything of ours ends here, and the run says so."""
        if not self.on:
            return
        try:
            self.message(
                layout.ERROR,
                f"the agent switched itself off: {describe(error)}. Nothing more is watched; the training goes on unchanged.",
            )
            if self.ring is not None:
                self.ring.set_state(layout.STATE_OFF)
        except Exception:  # noqa: S110 -- the channel itself may be what failed
            pass
        self.on = False
        for guard in self.guards:
            guard.switch_off()
        with contextlib.suppress(Exception):  # nobody is left to tell
            self.patches.undo()

    def at_end(self) -> None:
        """The process ends in an orderly way. Every part is guarded by itself: the last words of one must not cost the others'."""
        if self.ended:
            return
        self.ended = True
        for end in list(self.ends):
            if self.on:
                try:
                    end()
                except Exception as error:
                    self.complain(f"What was to be done when the process ends failed: {describe(error)}.")
        if self.unsaid and (self.backwards or self.samples):
            self.say_unsaid()
        with contextlib.suppress(Exception):  # nobody is left to tell
            if self.held:
                self.write_held()
            self.emit_loss()
        if self.on and self.ring is not None:
            self.ring.progress(self.step, self.all_cost_ns(), self.all_hook_calls())
            self.ring.set_state(layout.STATE_ENDED)


def make_agent(torch: Any) -> Agent | None:
    run = os.environ.get("GAPLESS_RUN", "")
    options = read_options()
    if options.mode == "off" or not os.path.isabs(run) or sys.byteorder != "little":
        return None
    return Agent(torch, run, options)
