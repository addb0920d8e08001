# SPDX-License-Identifier: Apache-2.0
"""Profiles of the Python code itself, on request: which one runs, and when its files are written.

Four kinds, one file each: `sampler` (stacks at a fixed rate, cheap), `call_profile` (cProfile), `line_profile` (time per line of the
program's own files) and `allocations` (tracemalloc). Each answers with the tables of `host_file`.

Counting calls and lines makes Python code several times slower, and after some seconds it tells nothing new: it ends by itself once it has
cost MOST_COST_NS and MOST_SHARE of the time since it began.
"""

from __future__ import annotations

import os
import time
from typing import Any

from . import host_file, layout
from .context import Context
from .sampler import Sampler, why_not

MOST_COST_NS = 10_000_000_000
MOST_SHARE = 1 / 3


def _make(name: str) -> Any:
    """Most processes do without all of these."""
    if name == "cprofile":
        from .call_profile import CallProfile

        return CallProfile()
    if name == "lines":
        from .line_profile import LineProfile

        return LineProfile()
    from .allocations import Allocations

    return Allocations()


class PythonProfile:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard("the Python code", "There is no profile of it.")
        self.sampler: Sampler | None = None
        self.other: Any = None
        self.ordered = 0
        self.check_ns = 0  # when the cost is looked at next

    def install(self) -> None:
        name = self.context.options.python
        reason = ""
        if name == "sample":
            reason = why_not()
            if not reason:
                self._sample()
        elif name in ("cprofile", "lines", "tracemalloc"):
            self.other = _make(name)
            reason = self.other.start()
            if reason:
                self.other = None
            elif name in ("cprofile", "lines"):
                self.context.each_second.append(self.check_cost)
        elif name:
            self.context.message(layout.WARNING, f"there is no Python profile {name!r}")
        if reason:
            self.context.message(layout.WARNING, f"no Python profile ({name}): {reason}")
        if name:
            self.guard.at_end(self.at_end)

    def reset(self) -> None:
        """After a fork: what was seen belongs to the parent; a sampler's thread did not come along."""
        self.sampler = None
        if self.other is not None:
            self.other.restart()

    def check_cost(self) -> None:
        """Between two steps, about once a second; later ever less often, for cProfile takes some time to say it."""
        if self.other is None or not self.guard.on or self.context.thread() != self.context.main_thread:
            return
        now = time.time_ns()
        if now < self.check_ns:
            return
        try:
            cost_ns, since_ns = self.other.cost_ns(), now - self.other.started
            self.check_ns = now + since_ns // 10
            if cost_ns >= MOST_COST_NS and cost_ns >= MOST_SHARE * since_ns:
                self._stop_other(cost_ns, since_ns)
        except Exception as error:
            self.guard.failed(error)

    def _stop_other(self, cost_ns: int, since_ns: int) -> None:
        self.context.message(
            layout.WARNING,
            f"the Python profile ({self.context.options.python}) ended after {since_ns / 1e9:.0f} s: it had cost about "
            f"{cost_ns / 1e9:.0f} s, and what it saw until then is in the run",
        )
        self._write_other()

    def _write_other(self) -> None:
        other, self.other = self.other, None
        if self.context.ring is not None and hasattr(other, "cost_ns"):
            self.context.emit(
                layout.KIND_RECORDER, value=layout.RECORDER_COST, flags=layout.COST_PYTHON, dur_ns=other.cost_ns(),
                b=self.context.step,
            )  # fmt: skip
        self._write(other.tables(), "")

    def start_in_worker(self) -> None:
        if self.context.options.python == "sample" and self.sampler is None and not why_not():
            self._sample()

    def in_dataset(self) -> dict[str, int]:
        """Time by function inside the reading of samples since the last call, if stacks are sampled."""
        return {} if self.sampler is None else self.sampler.take_in_dataset()

    def sample_for(self, seconds: int) -> tuple[int, str]:
        """Answers as a command does."""
        if self.sampler is not None:
            return layout.ACK_FAILED, "stacks are being sampled already"
        if why_not():
            return layout.ACK_FAILED, why_not()
        self.ordered += 1
        self._sample(max(1, seconds), f"-{self.ordered}")
        return layout.ACK_DONE, ""

    def _sample(self, seconds: int = 0, suffix: str = "") -> None:
        def save(sampler: Sampler, last: bool) -> None:
            self._write(sampler.tables(), suffix)
            if last:
                self.sampler = None

        self.sampler = Sampler(self.context.options.python_hz, seconds, save, self.guard.failed)
        self.sampler.start()

    def at_end(self) -> None:
        if self.sampler is not None:
            self.sampler.stop()
            self._write(self.sampler.tables(), "")
        if self.other is not None:
            self._write_other()

    def _write(self, tables: dict[str, Any], suffix: str) -> None:
        """Only in processes that have something to say: not in every child that happens to import torch."""
        if self.context.ring is not None:
            try:
                host_file.write(os.path.join(self.context.folder(), f"python-{os.getpid()}{suffix}"), tables)
            except OSError as error:
                self.context.lost("the Python profile", error)
