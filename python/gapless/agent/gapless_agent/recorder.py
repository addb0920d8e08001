# SPDX-License-Identifier: Apache-2.0
"""PyTorch's profiler, driven from step boundaries: on a schedule, and whenever the launcher asks.

It is used below `torch.profiler.profile`, whose own `step()` counts its steps from 0; here a step has the number that the ring gives
it. One window: prepared (the profiler runs and forgets), started (it keeps), stopped, written. A program that has a profiler of its own
is left alone: the agent looks before each window, and gives way when the program makes one while a window is open.

A window belongs to the thread that opened it. PyTorch keeps the profiler's state in that thread, and stopping it from another one ends
the process with signal 11. So only the owner advances, stops and exports a window: at its steps, or when the thread ends. Python then
drops the thread's local objects while PyTorch's state is still there, and the one that `Recorder.own` holds closes the window. Another
thread asks the owner to close the window, and where that takes no step within a second abandons it: nothing is exported, what the ring
and earlier windows have is kept, and the owner stops the profiler when it ends. If the owner has ended and left its window open, PyTorch's
state is gone with it: any thread may then stop the profiler, and must, and none may export it. A thread that may still run when the process ends is
recorded without Python stacks: a process that ends while these are recorded ends with signal 11, too.

The file gets its name when it is complete. It is compressed in a thread: training goes on meanwhile.

A step with an evaluation, a checkpoint or the like in it is no step as the others are. Where most of the window has none, the window goes
on behind it, and only the longest stretch without any is marked as steps: `clean_steps.py`. What all this holds the program up is reported.
"""

from __future__ import annotations

import atexit
import gzip
import os
import shutil
import sys
import threading
import time
import weakref
from typing import Any, Callable

from . import layout
from .call_lines import BLOCK, calls_of, copy_changed, has_calls
from .clean_steps import CleanSteps
from .context import Context
from .own_files import check_json, make_file, remove
from .patches import hide

_LAST_STEP_S = 1.0  # how long the end of the process waits for a thread that still trains to close its window
_LAST_REST_S = 60.0  # how long that thread then rests: longer than Python takes to end, also on a busy machine
_AGAIN = 3  # windows that are opened again after their threads have ended
_QUIET = "KINETO_LOG_LEVEL"  # the profiler prints what it does, and reads this when it is first prepared


class _Owner:
    """Marks the thread that a window belongs to. Python drops the mark when that thread ends, and in that thread, unless something else
    still holds a frame or the locals of it (a debugger, a traceback that is kept): then later, in whichever thread."""

    def __init__(self, ends: Callable[[_Owner], None], window: int) -> None:
        self.ends, self.window = ends, window
        self.thread = threading.get_native_id()
        self.left: Any = None  # the profiler of a window that another thread abandoned

    def __del__(self) -> None:
        self.ends(self)


class Recorder:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.opened = 0  # windows so far: the number of the one that is open
        self.guard = context.guard(
            "the steps that PyTorch's profiler records",
            "What was being recorded is lost, and nothing more is recorded.",
        )
        self.guard.let_go.append(self.abandon)
        self.reset()

    def reset(self) -> None:
        record = self.context.options.record
        self.profiler: Any = None
        self.opened += 1  # the marks of a parent's threads are of no window here
        self.own = threading.local()
        self.owner: Callable[[], _Owner | None] = lambda: None  # of the newest window
        self.closed = threading.Event()
        self.mark: Any = None
        self.ours = False
        self.users = False
        self.keeps = False
        self.ending = False
        self.seen = CleanSteps(0)  # the steps that the open window has
        self.again = 0  # windows that were opened again
        self.windows = record.repeat if record.on and self.context.options.full else 0
        self._schedule(record.wait, record.warmup, record.active)
        self.files: list[threading.Thread] = []
        self.written = ""  # the name of the newest complete file

    def install(self) -> None:
        self.guard.patches.wrap(self.context.torch.autograd.profiler.profile, "__init__", self._around_init)
        self.guard.patches.wrap(self.context.torch.autograd.profiler.emit_nvtx, "__init__", self._around_init)
        self.guard.patches.wrap(self.context.torch.profiler.profiler._KinetoProfile, "__init__", self._around_init)
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
        self._close_or_leave("the program uses PyTorch's profiler in another thread than the one that was recorded")

    def claim(self) -> None:
        """The window that is opened now belongs to this thread."""
        self.opened += 1
        self.closed.clear()
        self.own.owner = _Owner(self._thread_ends, self.opened)
        self.own.window = self.opened
        self.owner = weakref.ref(self.own.owner)

    def _is_mine(self) -> bool:
        """Returns true if this thread opened the window that is open."""
        return self.profiler is not None and getattr(self.own, "window", 0) == self.opened

    def _close_or_leave(self, why: str) -> None:
        """Closes the window, from whichever thread: another one asks the owner, and leaves the window where it does not answer."""
        if self._is_mine():
            self._close()
        elif self.profiler is not None:
            self.active, self.context.attention = 0, True
            if not self.closed.wait(_LAST_STEP_S):
                self._leave()
                self._say(layout.RECORDER_IMPOSSIBLE, why)

    def _leave(self) -> None:
        """Abandons the window of another thread, which stops the profiler when it ends."""
        owner = self.owner()
        if owner is not None and self.profiler is not None:
            owner.left = (self.profiler, self.keeps)
            atexit.register(self._stop_left)  # the main thread does not end before that
        self.profiler = self.mark = None
        self.keeps, self.context.step_flags = False, 0

    def _stop_left(self) -> None:
        owner = getattr(self.own, "owner", None)
        if owner is not None:
            self._thread_ends(owner)

    def _thread_ends(self, owner: _Owner) -> None:
        """The thread of a window ends, or drops the mark of one that was closed long ago."""
        left, owner.left = owner.left, None
        try:
            if sys.is_finalizing():
                return
            if owner.thread != threading.get_native_id():
                return self._outlived(owner)
            if left is not None:
                self._stop(*left)
            elif self.profiler is not None and owner.window == self.opened:
                kept = self.keeps
                self._close()
                if not kept and not self.ending:
                    self._open_again()
        except Exception as error:
            self.guard.failed(error)

    def _outlived(self, owner: _Owner) -> None:
        """Stops the window of a thread that has ended, without exporting it. A profiler that nobody stops ends the process with signal 11
        at its exit; exporting does so at once, because PyTorch dropped the events together with the thread."""
        left, owner.left = owner.left, None
        if self.profiler is not None and owner.window == self.opened:
            left = self.profiler, self.keeps
            self.profiler = self.mark = None
            self.keeps, self.context.step_flags = False, 0
            self._say(layout.RECORDER_IMPOSSIBLE, "the thread that was recorded ended before its window was complete")
            self.closed.set()
        if left is not None and left[1]:
            left[0].stop_trace()

    def _open_again(self) -> None:
        """The thread of a window ended before it kept anything: the next one that takes a step has it, without a warm-up."""
        self.again += 1
        if self.again > _AGAIN:
            self.windows = 0
            return self._say(
                layout.RECORDER_IMPOSSIBLE, "the threads that train end before anything of them is recorded"
            )
        self.windows += 1
        self._schedule(0, 0, self.active)
        self.context.attention = True

    @staticmethod
    def _stop(profiler: Any, keeps: bool) -> None:
        """Only for the thread that opened the window. PyTorch stops what it has started, not what it has prepared."""
        if not keeps:
            profiler.start_trace()
        profiler.stop_trace()

    def _schedule(self, prepare_at: int, warmup: int, active: int) -> None:
        """The next window: prepared before step `prepare_at`, it keeps `active` steps of its thread after the warm-up."""
        self.prepare_at, self.start_at, self.active = prepare_at, prepare_at + warmup, active
        self.seen = CleanSteps(active)

    def order(self, step: int, active: int, warmup: int) -> tuple[int, str]:
        """A window from step `step` on, outside of the schedule."""
        if not self.guard.on:
            return layout.ACK_FAILED, "recording was switched off by an error"
        if self.profiler is not None:
            return layout.ACK_FAILED, "the recorder is already on"
        if self.context.torch._C._autograd._profiler_enabled():
            return layout.ACK_FAILED, "the program uses PyTorch's profiler itself"
        self._schedule(step, warmup, max(1, active))
        self.windows += 1
        self.context.attention = True
        return layout.ACK_DONE, ""

    def at_step(self, step: int) -> None:
        """Step `step` begins. What the profiler itself takes here is not the agent's cost: it belongs to the recorded window."""
        if self.mark is None and self.windows == 0:
            return
        entered = time.perf_counter_ns()
        self._advance(step)
        self.context.cost_ns -= time.perf_counter_ns() - entered

    def _paid(self, part: int, since_ns: int) -> None:
        """The program was held up since then."""
        self.context.emit(
            layout.KIND_RECORDER, value=layout.RECORDER_COST, flags=part, dur_ns=time.perf_counter_ns() - since_ns, b=self.context.step
        )  # fmt: skip

    def _advance(self, step: int) -> None:
        if self.profiler is not None and not self._is_mine():
            return
        if self.mark is not None:
            self.mark.__exit__(None, None, None)
            self.mark = None
        if self.keeps:
            self.seen.ended(self.context.clock(), self.context.blocked_ns)
        if self.profiler is not None and (self.seen.complete() or self.active == 0):
            self._close()
            if self.ending:  # Python ends this thread at once: better here than in PyTorch's code, which that aborts
                time.sleep(_LAST_REST_S)
            record = self.context.options.record
            self._schedule(step + record.wait, record.warmup, record.active)
        if self.windows > 0 and self.profiler is None and step >= self.prepare_at:
            self.windows -= 1
            begun = time.perf_counter_ns()
            self._prepare()
            if self.profiler is None:
                return
            self._paid(layout.COST_START, begun)
        if self.profiler is None:
            return
        if not self.keeps and step >= self.start_at:
            begun = time.perf_counter_ns()
            self.profiler.start_trace()
            self.keeps = True
            self._paid(layout.COST_START, begun)
            self._say(layout.RECORDER_KEEPS)
        if self.keeps:
            self.seen.begins(step, self.context.clock(), self.context.blocked_ns)
        self.mark = self.context.torch.autograd.profiler.record_function(f"ProfilerStep#{step}")
        self.mark.__enter__()

    def _prepare(self) -> None:
        torch, record = self.context.torch, self.context.options.record
        if torch._C._autograd._profiler_enabled():
            self.windows = 0
            self._say(layout.RECORDER_IMPOSSIBLE, "the program uses PyTorch's profiler itself")
            return
        no_stacks = self._why_no_stacks()
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
                with_stack=record.stacks and not no_stacks,
                experimental_config=self._experimental(),
            )
            self.profiler.prepare_trace()
            self.claim()
            self.context.step_flags = layout.FLAG_RECORDED
            self._say(layout.RECORDER_ON)
            if record.stacks and no_stacks:
                self.context.message(layout.NOTE, f"the recording has no Python stacks: {no_stacks}")
        except Exception as error:
            self.profiler, self.context.step_flags = None, 0
            self._say(layout.RECORDER_IMPOSSIBLE, f"{type(error).__name__}: {error}")
        finally:
            self.ours = False
            if level is None:
                os.environ.pop(_QUIET, None)

    def _why_no_stacks(self) -> str:
        """Returns why Python's calls are not recorded, "" if they are. Python reports calls to one profiler only, and the
        recorder's would take another one's place for good."""
        if self.context.options.python == "cprofile":
            return "cProfile counts the calls instead"
        if sys.getprofile() is not None:
            return "the program has a profiler of its own (sys.setprofile)"
        thread = vars(threading)["_active"].get(
            threading.get_ident()
        )  # asking threading would add what it does not know
        if thread is None or (thread.daemon and thread is not threading.main_thread()):
            return "the thread that trains may still run when the process ends"
        return ""

    def _experimental(self) -> Any:
        config = self.context.torch._C._profiler._ExperimentalConfig
        try:
            return config(enable_cuda_sync_events=self.context.options.record.sync_events)
        except TypeError:  # torch 2.0 and 2.1 have none
            return None

    def _close(self) -> None:
        """Stops, and writes what was kept. Only for the thread that opened the window."""
        profiler, keeps = self.profiler, self.keeps
        if profiler is None:
            return
        self.profiler, self.keeps, self.context.step_flags = None, False, 0
        if self.mark is not None:
            self.mark.__exit__(None, None, None)
            self.mark = None
        begun = time.perf_counter_ns()
        self._stop(profiler, keeps)
        self._say(layout.RECORDER_OFF)
        self._paid(layout.COST_STOP, begun)
        if keeps:
            begun = time.perf_counter_ns()
            self._export(profiler, self._left_out())
            self._paid(layout.COST_EXPORT, begun)
        self.closed.set()

    def _left_out(self) -> list[int]:
        """The steps of the window that are not to be marked as steps; the run says so."""
        steps = self.seen.left_out()
        if steps:
            self.context.message(layout.WARNING, self.seen.text())
        return steps

    def _export(self, profiler: Any, left_out: list[int]) -> None:
        place = self.context.place
        name = f"{place.worker if place else 'main'}.{time.time_ns()}.pt.trace.json"
        try:
            plain = os.path.join(self.context.folder(), "." + name + ".part")
        except OSError as error:
            return self._lost(error)
        try:
            os.close(make_file(plain))
            profiler.export_chrome_trace(plain)
            check_json(plain)
        except (OSError, RuntimeError) as error:
            return self._lost(error, plain, plain + ".tmp")  # which torch writes first
        arguments = (plain, name + ".gz", profiler, left_out)
        thread = threading.Thread(target=self._compress, args=arguments, name="gapless", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # Python 3.12 and later start none when the process ends
            self._compress(*arguments)
        else:
            self.files.append(thread)

    def _compress(self, plain: str, name: str, profiler: Any, left_out: list[int]) -> None:
        try:
            calls = self._calls(plain, profiler)
            folder = os.path.dirname(plain)
            packed = plain + ".gz"
            with (
                open(plain, "rb") as source,
                open(make_file(packed), "wb") as file,
                gzip.GzipFile("", "wb", 3, file) as target,
            ):
                if calls or left_out:
                    copy_changed(source, target, calls, left_out)
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
            self.context.message(layout.WARNING, f"no calling lines: {type(error).__name__}: {error}")
            return []

    def _lost(self, error: Exception, *parts: str) -> None:
        remove(*parts)
        self._say(layout.RECORDER_IMPOSSIBLE, f"{type(error).__name__}: {error}")
        self.context.lost("the recording", error)

    def _say(self, value: int, text: str = "") -> None:
        context = self.context
        context.emit(layout.KIND_RECORDER, value=value, a=context.text(text) if text else 0, b=context.step)

    def abandon(self) -> None:
        """The agent is off: a profiler that nobody stops would keep everything for ever."""
        self.windows = 0
        if not self._is_mine():
            return self._leave()
        profiler, keeps, mark = self.profiler, self.keeps, self.mark
        self.profiler = self.mark = None
        self.keeps, self.context.step_flags = False, 0
        if mark is not None:
            mark.__exit__(None, None, None)
        self._stop(profiler, keeps)

    def at_end(self) -> None:
        """A program that ends early has what was kept so far."""
        self.ending = True
        self._close_or_leave("the thread that was recorded neither ended nor took a step before the process ended")
        begun = time.perf_counter_ns()
        for thread in self.files:
            thread.join(60)
        if self.files:
            self._paid(layout.COST_END, begun)
