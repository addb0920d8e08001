# SPDX-License-Identifier: Apache-2.0
"""Work beside the training: what the loop writes and computes that no step needs, and how long each step waits for it.

Checkpoints, histograms and scalars for a dashboard, pictures, metrics: functions and methods of libraries, in the table below. They are
wrapped where they are defined, once their libraries have been imported: when the program makes an optimiser, when its first step begins,
and within a second of a later import. Names that the program has imported from them before (`from sklearn.metrics import f1_score`) are
wrapped in its own modules, too. Of calls inside of calls the outermost counts. A call in a thread that does not train is marked: no step
waits for it.

The cost: two readings of the clock for each call, and the line that makes it. Calls are added up by name and line, and written once a
millisecond has come together, so that a scalar a step costs no record a step. A checkpoint is written at once, with its file.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import FrameType
from typing import Any, Callable, NamedTuple

from .. import layout
from ..counts import NAN
from ..edits import is_own, is_users, line_of, shown
from ..hook import Hook, Parts
from ..patches import hide

CHECKPOINT, LOGGING, IMAGES, METRICS = "checkpoint", "logging", "images", "metrics"


class Work(NamedTuple):
    kind: str
    module: str
    name: str  # a function or "Class.method"; a star at the end stands for all that are public and begin so


TABLE = (
    Work(CHECKPOINT, "torch", "save"),
    Work(CHECKPOINT, "torch.distributed.checkpoint.state_dict_saver", "save"),
    Work(CHECKPOINT, "safetensors.torch", "save_file"),
    Work(LOGGING, "torch.utils.tensorboard.writer", "SummaryWriter.add_*"),
    Work(LOGGING, "tensorboardX.writer", "SummaryWriter.add_*"),
    Work(LOGGING, "wandb.sdk.wandb_run", "Run.log"),
    Work(LOGGING, "mlflow.tracking.fluent", "log_*"),
    Work(IMAGES, "PIL.Image", "Image.save"),
    Work(IMAGES, "cv2", "imwrite"),
    Work(IMAGES, "imageio.v2", "imwrite"),
    Work(IMAGES, "imageio.v3", "imwrite"),
    Work(IMAGES, "matplotlib.figure", "Figure.savefig"),
    Work(IMAGES, "torchvision.utils", "save_image"),
    Work(IMAGES, "torchvision.io.image", "write_*"),
    Work(METRICS, "sklearn.metrics", "*"),
    Work(METRICS, "torchmetrics.metric", "Metric.forward"),
    Work(METRICS, "torchmetrics.metric", "Metric._wrap_update"),
    Work(METRICS, "torchmetrics.metric", "Metric._wrap_compute"),
)
WRITTEN_FROM_NS = 1_000_000  # as short waits for batches, less has no record of its own
MAKERS = "_wrap_"  # methods of torchmetrics that make the method of an object: what they return is wrapped


class Calls:
    """The calls of one name at one line that have come together."""

    __slots__ = ("count", "ended_ns", "longest_ns", "total_ns")

    def __init__(self) -> None:
        self.count = self.total_ns = self.longest_ns = self.ended_ns = 0


class Beside(Hook):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.steps, self.optimizers = parts.steps, parts.optimizers
        self.guard = self.context.guard(
            "checkpoints and other work beside the training", "How long steps wait for it is not known from here on."
        )
        self.wrapped: set[tuple[str, str]] = set()
        self.modules = 0  # that were loaded at the last look
        self.users: dict[str, bool] = {}  # by file
        self.shown: dict[str, str] = {}  # a file as the run names it
        self.reset()

    def reset(self) -> None:
        self.lock = threading.RLock()  # taken again where a finalizer logs
        self.inside: set[int] = set()  # threads that are in a call
        self.sums: dict[tuple[str, str, int, bool], Calls] = {}

    def install(self) -> None:
        self._look()
        self.optimizers.when_made.append(self.look)
        self.context.each_second.append(self.look)
        self.context.at_step(1, self.look)
        self.guard.at_end(self.flush)

    def look(self) -> None:
        """Wraps what has been imported by now."""
        if self.guard.on and len(sys.modules) != self.modules:
            try:
                self._look()
            except Exception as error:
                self.guard.failed(error)

    def _look(self) -> None:
        self.modules = len(sys.modules)
        functions: dict[int, tuple[Any, Any]] = {}  # what other modules may have imported: original and wrapper
        for work in TABLE:
            module = sys.modules.get(work.module)
            if module is not None:
                self._wrap_in(work, module, functions)
        if functions:
            self._wrap_imported(functions)

    def _wrap_in(self, work: Work, module: Any, functions: dict[int, tuple[Any, Any]]) -> None:
        owner, name = module, work.name
        if "." in name:
            kind, _, name = name.partition(".")
            owner = vars(module).get(kind)
            if owner is None:  # the module is still being loaded
                return
        for found in public(owner, name[:-1]) if name.endswith("*") else [name]:
            original = vars(owner).get(found)
            place = (work.module, f"{getattr(owner, '__name__', '')}.{found}")
            if place in self.wrapped or not callable(original) or isinstance(original, type):
                continue
            self.wrapped.add(place)
            around = self._around_maker if found.startswith(MAKERS) else self._around
            wrapper = self.guard.patches.wrap(owner, found, lambda real: around(work.kind, place[1], real))  # noqa: B023
            if owner is module:
                functions[id(original)] = (original, wrapper)

    def _wrap_imported(self, functions: dict[int, tuple[Any, Any]]) -> None:
        """The same functions under the names that the program's modules, and those that define them, have for them."""
        homes = {getattr(original, "__module__", "") for original, _ in functions.values()}
        packages = {home.rpartition(".")[0] for home in homes}
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if name not in homes | packages and not (isinstance(file, str) and is_users(os.path.abspath(file))):
                continue
            for attribute, value in list(vars(module).items()):
                original, wrapper = functions.get(id(value), (None, None))
                if value is original and wrapper is not None:
                    self.guard.patches.put(module, attribute, wrapper)

    def _around(self, kind: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        context, beside, label = self.context, self, f"{kind}: {name}"

        def call(*args: Any, **kwargs: Any) -> Any:
            thread = context.thread()
            if thread in beside.inside or not beside.guard.on:
                return original(*args, **kwargs)
            beside.inside.add(thread)
            begun = context.clock()
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            finally:
                ended = context.clock()
                beside.inside.discard(thread)
            if beside.guard.on:
                try:
                    if kind == CHECKPOINT:
                        beside._saved(file_of(args, kwargs), ended - begun, beside._waits(thread))
                    else:
                        beside._called(label, begun, ended, beside._waits(thread))
                except Exception as error:
                    beside.guard.failed(error)
            return result

        return call

    def _around_maker(self, kind: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        beside, name = self, name.replace(MAKERS, "")

        def make(*args: Any, **kwargs: Any) -> Any:
            try:
                made = original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            return beside._around(kind, name, made) if beside.guard.on and callable(made) else made

        return make

    def _waits(self, thread: int) -> bool:
        """Does a step wait for what this thread does? Where none has taken a step yet, the main thread is to train."""
        return thread in self.steps.lanes or (thread == self.context.main_thread and len(self.steps.lanes) == 1)

    def _saved(self, file: Any, dur_ns: int, waits: bool) -> None:
        context = self.context
        path, size = "", NAN
        if isinstance(file, (str, os.PathLike)):
            path = os.fspath(file)
            size = float(os.stat(file).st_size) if os.path.isfile(file) else NAN
        elif file is not None:
            path = str(getattr(file, "name", ""))
        text, line = context.text(str(path)), context.text(line_of(sys._getframe(1)))
        context.blocked_ns += dur_ns if waits else 0
        context.emit(
            layout.KIND_SAVE, flags=0 if waits else layout.FLAG_IN_THREAD, ts_ns=time.time_ns() - dur_ns, dur_ns=dur_ns,
            a=text, b=context.step, x=size, y=float(line),
        )  # fmt: skip

    def _called(self, label: str, begun: int, ended: int, waits: bool) -> None:
        context = self.context
        frame = self._users_frame(sys._getframe(1))
        file, line = ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        context.blocked_ns += ended - begun if waits else 0
        with self.lock:
            key = (label, file, line, waits)
            calls = self.sums.get(key)
            if calls is None:
                calls = self.sums[key] = Calls()
            calls.count += 1
            calls.total_ns += ended - begun
            calls.longest_ns = max(calls.longest_ns, ended - begun)
            calls.ended_ns = ended
            if calls.total_ns >= WRITTEN_FROM_NS:
                self._write(label, file, line, waits, self.sums.pop(key))
        context.hook_calls += 1
        context.cost_ns += context.clock() - ended + context.call_ns if waits else 0

    def _users_frame(self, frame: FrameType | None) -> FrameType | None:
        while frame is not None:
            file = frame.f_code.co_filename
            users = self.users.get(file)
            if users is None:
                users = self.users[file] = is_users(file) and not is_own(file)
            if users:
                return frame
            frame = frame.f_back
        return None

    def _write(self, label: str, file: str, line: int, waits: bool, calls: Calls) -> None:
        context = self.context
        if file not in self.shown:
            self.shown[file] = shown(os.path.abspath(file)) if file else ""
        place = f"{self.shown[file]}:{line}" if file else ""
        ended = time.time_ns() - (context.clock() - calls.ended_ns)
        context.emit(
            layout.KIND_BESIDE, value=min(calls.count, 2**31 - 1), flags=0 if waits else layout.FLAG_IN_THREAD,
            ts_ns=ended - calls.total_ns, dur_ns=calls.total_ns, a=context.text(label), b=context.step,
            x=float(calls.longest_ns), y=float(context.text(place)),
        )  # fmt: skip

    def flush(self) -> None:
        with self.lock:
            for (label, file, line, waits), calls in list(self.sums.items()):
                self._write(label, file, line, waits, calls)
            self.sums.clear()


def public(owner: Any, begin: str) -> list[str]:
    """The names of functions that begin so; of a module only those that it says are public, if it says so."""
    names = getattr(owner, "__all__", None) or [name for name in vars(owner) if not name.startswith("_")]
    return [name for name in names if isinstance(name, str) and name.startswith(begin)]


def file_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The file that a checkpoint goes to."""
    for name in ("f", "filename", "checkpoint_id"):
        if name in kwargs:
            return kwargs[name]
    return args[1] if len(args) > 1 else None


HOOK = Beside
