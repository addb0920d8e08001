# SPDX-License-Identifier: Apache-2.0
"""Counters that the hooks of every step read and write, side by side in memory.

A hook that runs between two steps finds the caches full of the program's data, and pays some 0.1 us for each object that it looks at:
so many of the microseconds that it costs. Slots lie next to each other and are found without a dictionary; a hook that has them all
from one object needs no names of its module, no cells of its function and no other objects. That is why the clock is here, too.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Callable

NAN = float("nan")
NO_ORDERS = [0]
LONG_WAIT_NS = 1_000_000  # a wait for a batch of 1 ms or more gets its own record
CALL_NS = 200  # what calling a wrapper costs before its first line, measured by bench/agent_overhead.py
COUNT_NS = 2000  # what counting a backward pass takes where caches are cold; two clocks around it would take as much


class Counts:
    __slots__ = (
        "attention", "backwards", "begun", "call_ns", "clock", "cost_ns", "counts_batches", "counts_steps", "due_ns", "fired_ns", "held", "hook_calls",
        "identity", "in_loader", "kind", "long_wait_ns", "looks", "loss", "main_thread", "obeyed", "on", "orders", "plain",
        "samples", "samples_unknown", "sole", "step", "step_flags", "tensor", "thread", "wait_ns",
    )  # fmt: skip

    on: bool
    counts_steps: bool  # the guards of steps and of loaders are on, see guard.py
    counts_batches: bool
    step: int  # steps completed: the number of the one that runs
    step_flags: int  # of the step that runs
    loss: float | None  # of the step that runs, while its only one
    looks: bool  # closely at the step that runs: its loss, its batch
    attention: bool  # some part has something to do when the step ends
    # Running totals.
    backwards: int
    samples: int
    samples_unknown: int
    wait_ns: float  # a whole number; NaN: nobody counts any longer
    cost_ns: int  # without that of counting backward passes
    hook_calls: int  # without those of backward passes, which are counted anyway
    # Counters of steps.py and step_writer.py.
    sole: int  # the optimiser whose step ends the step, with nothing else to look at; 0: none
    fired_ns: int  # when that stepped last
    begun: tuple[Any, ...]  # Totals where the step that runs began
    # Steps that are not written yet: Totals at the begin; those at the end with number, flags and loss behind.
    held: deque[Any]
    due_ns: int  # when they are written
    # The control block, see control.py.
    orders: Sequence[int]  # its word that grows with each command
    obeyed: int  # the newest command that was read

    in_loader: bool  # a loader is asked for a batch
    main_thread: int | None
    # Objects that are looked up here instead of in their modules, which is faster.
    clock: Callable[[], int]
    thread: Callable[[], int]
    identity: Callable[[object], int]
    kind: Callable[[object], type]
    plain: type
    tensor: Any
    long_wait_ns: int
    call_ns: int

    def __init__(self, tensor: Any) -> None:
        self.clock, self.thread, self.identity = time.perf_counter_ns, threading.get_ident, id
        self.kind, self.plain, self.tensor = type, list, tensor
        self.long_wait_ns, self.call_ns = LONG_WAIT_NS, CALL_NS
        self.main_thread = threading.main_thread().ident
        self.held = deque()

    def reset(self) -> None:
        """As a new process: at the start, and in the child after a fork."""
        self.step = 0
        self.cost_ns = 0
        self.hook_calls = 0
        self.backwards = 0
        self.samples = 0
        self.samples_unknown = 0
        self.wait_ns = 0
        self.loss = None
        self.held.clear()
        self.orders = NO_ORDERS
        self.obeyed = 0
        self.attention = True
        self.step_flags = 0
        self.in_loader = False
        self.sole = self.fired_ns = self.due_ns = 0

    def all_cost_ns(self) -> int:
        return self.cost_ns + COUNT_NS * self.backwards

    def all_hook_calls(self) -> int:
        return self.hook_calls + self.backwards
