# SPDX-License-Identifier: Apache-2.0
"""PyTorch's profiler, driven from step boundaries: on a schedule, and whenever the launcher asks.

It is used below `torch.profiler.profile`, whose own `step()` counts its steps from 0; here a step has the number that the ring gives
it. One window: prepared (the profiler runs and forgets), started (it keeps), stopped, written. A program that has a profiler of its own
is left alone: the agent looks before each window, and gives way when the program makes one while a window is open.

A window belongs to the thread that opened it. PyTorch keeps the profiler's state in that thread, and stopping it from another one ends
the process with signal 11. So only the owner advances, stops and exports a window: at its steps, or when the thread ends. Python then
drops the thread's local objects while PyTorch's state is still there, and the one that `Recorder.own` holds closes the window. Another
thread abandons the window: nothing is stopped or exported, and what the ring and earlier windows have is kept.

The file gets its name when it is complete. It is compressed in a thread: training goes on meanwhile.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import threading
import time
from typing import Any, Callable

from . import layout
from .agent import Agent
from .call_lines import BLOCK, calls_of, copy_with_calls, has_calls
from .own_files import check_json, make_file, remove
from .patches import hide

_LAST_STEP_S = 1.0  # how long the end of the process waits for a thread that still trains to close its window
_QUIET = "KINETO_LOG_LEVEL"  # the profiler prints what it does, and reads this when it is first prepared


class _Owner:
    """Marks the thread that a window belongs to; Python drops the mark when that thread ends, and in that thread."""

    def __init__(self, ends: Callable[[int], None], window: int) -> None:
        self.ends, self.window = ends, window

    def __del__(self) -> None:
        self.ends(self.window)


class Recorder:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.opened = 0  # windows so far: the number of the one that is open
        self.guard = agent.guard(
            "the steps that PyTorch's profiler records",
            "What was being recorded is lost, and nothing more is recorded.",
        )
        self.guard.let_go.append(self.abandon)
        self.reset()

    def reset(self) -> None:
        record = self.agent.options.record
        self.profiler: Any = None
        self.opened += 1  # the marks of a parent's threads are of no window here
        self.own = threading.local()
        self.closed = threading.Event()
        self.mark: Any = None
        self.ours = False
        self.users = False
        self.keeps = False
        self.windows = record.repeat if record.on and self.agent.options.full else 0
        self.prepare_at = record.wait
        self.start_at = record.wait + record.warmup
        self.stop_at = self.start_at + record.active
        self.files: list[threading.Thread] = []
        self.written = ""  # the name of the newest complete file

    def install(self) -> None:
        self.guard.patches.wrap(self.agent.torch.autograd.profiler.profile, "__init__", self._around_init)
        self.guard.patches.wrap(self.agent.torch.autograd.profiler.emit_nvtx, "__init__", self._around_init)
        self.guard.patches.wrap(self.agent.torch.profiler.profiler._KinetoProfile, "__init__", self._around_init)
        self.guard.at_end(self.at_end)

    def _around_init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The program makes a profiler of its own."""

        def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
            if self.guard.on and not self.ours:
                try:
                    self._give_way()
                except Exception as error:
                    self.guard.failed(error)
            try:
                original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return __init__

    def _give_way(self) -> None:
        if not self.users:
            self.users = True
            self._say(layout.RECORDER_IMPOSSIBLE, "the program uses PyTorch's profiler itself")
        self.windows = 0
        if self._is_mine():
            self._close()
        else:
            self._forget("the program uses PyTorch's profiler in another thread")

    def _is_mine(self) -> bool:
        """Returns true if this thread opened the window that is open."""
        owner = getattr(self.own, "owner", None)
        return self.profiler is not None and owner is not None and owner.window == self.opened

    def _forget(self, why: str) -> None:
        """Abandons a window of another thread: stopping it here would end the process."""
        if self.profiler is None:
            return
        self.profiler = self.mark = None
        self.keeps, self.agent.step_flags = False, 0
        self._say(layout.RECORDER_IMPOSSIBLE, why)

    def _thread_ends(self, window: int) -> None:
        """The thread that opened this window ends, or drops the mark of a window that was closed long ago."""
        if self.profiler is None or window != self.opened or sys.is_finalizing():
            return
        try:
            self._close()
        except Exception as error:
            self.guard.failed(error)

    def order(self, step: int, active: int, warmup: int) -> tuple[int, str]:
        """A window from step `step` on, outside of the schedule."""
        if not self.guard.on:
            return layout.ACK_FAILED, "recording was switched off by an error"
        if self.profiler is not None:
            return layout.ACK_FAILED, "the recorder is already on"
        if self.agent.torch._C._autograd._profiler_enabled():
            return layout.ACK_FAILED, "the program uses PyTorch's profiler itself"
        self.prepare_at, self.start_at = step, step + warmup
        self.stop_at = self.start_at + max(1, active)
        self.windows += 1
        self.agent.attention = True
        return layout.ACK_DONE, ""

    def at_step(self, step: int) -> None:
        """Step `step` begins. What the profiler itself takes here is not the agent's cost: it belongs to the recorded window."""
        if self.mark is None and self.windows == 0:
            return
        entered = time.perf_counter_ns()
        self._advance(step)
        self.agent.cost_ns -= time.perf_counter_ns() - entered

    def _advance(self, step: int) -> None:
        if self.profiler is not None and not self._is_mine():
            return
        if self.mark is not None:
            self.mark.__exit__(None, None, None)
            self.mark = None
        if self.profiler is not None and step >= self.stop_at:
            self._close()
            record = self.agent.options.record
            self.prepare_at = step + record.wait
            self.start_at = self.prepare_at + record.warmup
            self.stop_at = self.start_at + record.active
        if self.windows > 0 and self.profiler is None and step >= self.prepare_at:
            self.windows -= 1
            self._prepare()
        if self.profiler is None:
            return
        if not self.keeps and step >= self.start_at:
            self.profiler.start_trace()
            self.keeps = True
            self._say(layout.RECORDER_KEEPS)
        self.mark = self.agent.torch.autograd.profiler.record_function(f"ProfilerStep#{step}")
        self.mark.__enter__()

    def _prepare(self) -> None:
        torch, record = self.agent.torch, self.agent.options.record
        if torch._C._autograd._profiler_enabled():
            self.windows = 0
            self._say(layout.RECORDER_IMPOSSIBLE, "the program uses PyTorch's profiler itself")
            return
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_initialized():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        level = os.environ.get(_QUIET)
        self.ours = True
        try:
            if level is None:
                os.environ[_QUIET] = "99"
            self.profiler = torch.profiler.profiler._KinetoProfile(
                activities=activities,
                record_shapes=record.shapes,
                profile_memory=record.memory,
                with_stack=record.stacks and not self._counts_calls(),
                experimental_config=self._experimental(),
            )
            self.profiler.prepare_trace()
            self.opened += 1
            self.closed.clear()
            self.own.owner = _Owner(self._thread_ends, self.opened)
            self.agent.step_flags = layout.FLAG_RECORDED
            self._say(layout.RECORDER_ON)
            if record.stacks and self._counts_calls():
                self.agent.message(layout.NOTE, "the recording has no Python stacks: cProfile counts the calls instead")
        except Exception as error:
            self.profiler, self.agent.step_flags = None, 0
            self._say(layout.RECORDER_IMPOSSIBLE, f"{type(error).__name__}: {error}")
        finally:
            self.ours = False
            if level is None:
                os.environ.pop(_QUIET, None)

    def _counts_calls(self) -> bool:
        """Returns true if cProfile runs: Python reports calls to one profiler only, and the recorder's would take cProfile's place for good."""
        return self.agent.options.python == "cprofile"

    def _experimental(self) -> Any:
        config = self.agent.torch._C._profiler._ExperimentalConfig
        try:
            return config(enable_cuda_sync_events=self.agent.options.record.sync_events)
        except TypeError:  # torch 2.0 and 2.1 have none
            return None

    def _close(self) -> None:
        """Stops, and writes what was kept. Only for the thread that opened the window."""
        profiler, keeps = self.profiler, self.keeps
        if profiler is None:
            return
        self.profiler, self.keeps, self.agent.step_flags = None, False, 0
        if self.mark is not None:
            self.mark.__exit__(None, None, None)
            self.mark = None
        if not keeps:
            profiler.start_trace()
        profiler.stop_trace()
        self._say(layout.RECORDER_OFF)
        if keeps:
            self._export(profiler)
        self.closed.set()

    def _export(self, profiler: Any) -> None:
        place = self.agent.place
        name = f"{place.worker if place else 'main'}.{time.time_ns()}.pt.trace.json"
        try:
            plain = os.path.join(self.agent.folder(), "." + name + ".part")
        except OSError as error:
            return self._lost(error)
        try:
            os.close(make_file(plain))
            profiler.export_chrome_trace(plain)
            check_json(plain)
        except (OSError, RuntimeError) as error:
            return self._lost(error, plain, plain + ".tmp")  # which torch writes first
        arguments = (plain, name + ".gz", profiler)
        thread = threading.Thread(target=self._compress, args=arguments, name="gapless", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # Python 3.12 and later start none when the process ends
            self._compress(*arguments)
        else:
            self.files.append(thread)

    def _compress(self, plain: str, name: str, profiler: Any) -> None:
        try:
            calls = self._calls(plain, profiler)
            folder = os.path.dirname(plain)
            packed = plain + ".gz"
            with (
                open(plain, "rb") as source,
                open(make_file(packed), "wb") as file,
                gzip.GzipFile("", "wb", 3, file) as target,
            ):
                if calls:
                    copy_with_calls(source, target, calls)
                else:
                    shutil.copyfileobj(source, target, BLOCK)
            os.rename(packed, os.path.join(folder, name))
            os.remove(plain)
            self.written = name
            self._say(layout.RECORDER_WRITTEN, name)
        except Exception as error:
            self._lost(error, plain, plain + ".gz")

    def _calls(self, plain: str, profiler: Any) -> list[bytes]:
        """Returns the calling lines to add to the file; none if that fails: the recording is worth more than its lines."""
        try:
            return [] if has_calls(plain) else calls_of(profiler)
        except Exception as error:
            self.agent.message(layout.WARNING, f"no calling lines: {type(error).__name__}: {error}")
            return []

    def _lost(self, error: Exception, *parts: str) -> None:
        remove(*parts)
        self._say(layout.RECORDER_IMPOSSIBLE, f"{type(error).__name__}: {error}")
        self.agent.lost("the recording", error)

    def _say(self, value: int, text: str = "") -> None:
        agent = self.agent
        agent.emit(layout.KIND_RECORDER, value=value, a=agent.text(text) if text else 0, b=agent.step)

    def abandon(self) -> None:
        """The agent is off: a profiler that nobody stops would keep everything for ever."""
        profiler, keeps, mine = self.profiler, self.keeps, self._is_mine()
        mark, self.mark = self.mark, None
        self.profiler, self.windows, self.keeps, self.agent.step_flags = None, 0, False, 0
        if not mine:
            return
        if mark is not None:
            mark.__exit__(None, None, None)
        if not keeps:
            profiler.start_trace()
        profiler.stop_trace()

    def at_end(self) -> None:
        """A program that ends early has what was kept so far."""
        if self._is_mine():
            self._close()
        elif self.profiler is not None:
            self.stop_at, self.agent.attention = 0, True  # a thread that trains on closes it when its step ends
            if not self.closed.wait(_LAST_STEP_S):
                self._forget("the thread that was recorded neither ended nor took a step before the process ended")
        for thread in self.files:
            thread.join(60)
