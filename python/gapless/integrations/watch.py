# SPDX-License-Identifier: Apache-2.0
"""The callbacks share a watch over steps. It marks them, may record some, and logs what they took and what was found.

Nothing that goes wrong here reaches the training: it is warned of once, and the watch does nothing more.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, Callable

from .. import region
from .trackers import FINDINGS, Tracker, Trackers, trackers_of

if TYPE_CHECKING:
    from ..run import Run

SHOWN = 5  # findings that are logged as a text


def _guarded(method: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(method)
    def guarded(self: Watch, *args: Any) -> None:
        if self.broken:
            return
        try:
            method(self, *args)
        except Exception as error:  # noqa: BLE001 -- the training must not see it
            self.broken = True
            warnings.warn(f"gapless watches no more steps: {type(error).__name__}: {error}", stacklevel=2)

    return guarded


class Watch:
    """`record` names a folder: after `skip` steps, `steps` of them are recorded into it. `log` says where step times, losses and findings
    go (trackers_of); every `every` steps, because a loss that is read makes the program wait for the GPU.

    Under `gapless profile` nothing is recorded here: that records already.
    """

    def __init__(
        self, record: str | None = None, *, skip: int = 10, steps: int = 6, log: Trackers = None, every: int = 10
    ) -> None:
        if skip < 0 or steps < 1 or every < 1:
            raise ValueError("skip is 0 or more, steps and every are 1 or more")
        self.record, self.skip, self.recorded_steps, self.every = record, skip, steps, every
        self.broken = False
        self.count = 0
        self.path: str | None = None  # of the recording, once it is written
        self._wanted = log
        self._given: list[Tracker] | None = (
            None if log is None else trackers_of(log)
        )  # a missing package is told at once
        self._trackers: list[Tracker] = []
        self._region: region.profile | None = None
        self._times: list[float] = []
        self._last = 0.0

    @_guarded
    def begin(self, logs: bool = True) -> None:
        """The training begins. `logs`: this process logs, as one of a job does."""
        self.count, self.path, self._times = 0, None, []
        self._trackers = [] if not logs else trackers_of(None) if self._given is None else self._given
        self._last = time.perf_counter()
        if self.skip == 0:
            self._open()

    @property
    def wants_loss(self) -> bool:
        """Will the loss of the step that ends now be logged?"""
        return bool(self._trackers) and not self.broken and (self.count + 1) % self.every == 0

    @_guarded
    def step(self, loss: float | None = None) -> None:
        """A step ended."""
        from .. import step

        step()
        now = time.perf_counter()
        self._times.append((now - self._last) * 1e3)
        self._last = now
        self.count += 1
        if self._region is not None:
            if self._region.steps + 1 >= self.recorded_steps:
                self._close()  # which ends the last step
            else:
                self._region.step()
        elif self.count == self.skip:
            self._open()
        if self.count % self.every == 0:
            self._log_steps(loss)

    @_guarded
    def end(self) -> None:
        """The training ended: what was recorded is read, and what was found is logged."""
        self._close()
        if self.path is not None:
            self._log_findings()
        for tracker in self._trackers:
            tracker.close()

    @functools.cached_property
    def run(self) -> Run:
        """The recorded steps, read once. Raises RuntimeError if nothing was recorded."""
        from ..run import open

        if self.path is None:
            raise RuntimeError(
                "no steps were recorded: name a folder with record=, and train for more than skip + steps steps"
            )
        return open(self.path)

    def _open(self) -> None:
        if self.record is None:
            return
        if _profiled():
            self.record = None  # `gapless profile` records
            return
        self._region = region.profile(self.record)
        self._region.__enter__()

    def _close(self) -> None:
        if self._region is not None:
            open_region, self._region = self._region, None
            open_region.__exit__()
            self.path = open_region.path
            self._last = time.perf_counter()  # writing it is no step's time

    def _log_steps(self, loss: float | None) -> None:
        values = {"gapless/step_ms": statistics.median(self._times)}
        if loss is not None:
            values["gapless/loss"] = loss
        self._times = []
        for tracker in self._trackers:
            tracker.numbers(values, self.count)

    def _log_findings(self) -> None:
        if not self._trackers:
            return
        document = self.run.document()
        found = document["bottlenecks"]
        lines = [f"- **{one['id']}**: {one['title']}" for one in found[:SHOWN]] or ["No bottleneck was found."]
        values = {"gapless/findings_count": float(len(found))}
        speedup = (document.get("estimated_speedup") or {}).get("expected")
        if speedup is not None:
            values["gapless/estimated_speedup"] = float(speedup)
        for tracker in self._trackers:
            tracker.numbers(values, self.count)
            tracker.text(FINDINGS, "\n".join(lines), self.count)


def _profiled() -> bool:
    """Does `gapless profile` watch this process?"""
    install = sys.modules.get("gapless_agent.install")
    return install is not None and getattr(install, "running", None) is not None
