# SPDX-License-Identifier: Apache-2.0
"""`--step-function FILE.py:FUNCTION` or `package.module:Class.method`: each return of that function ends a step.

The problem: the function has to be wrapped before the program takes a reference to it, nothing may be imported that the program does not
import, and the file may be the one that is just being executed, since it imported torch, which started the agent.

The way: a module that is loaded later is looked at when its own code has run (a finder in front of `sys.meta_path`). A module whose code runs
already is traced line by line until the function is there; between a `def` and the next line nobody can have taken it.

The cost: tracing calls a Python function at each call of a Python function in that thread, from `import torch` to the `def`. It
ends after MOST_CALLS of them at the latest; then the function is looked for whenever an optimiser is made.
Where a debugger or a coverage tool traces the program already, it is left alone.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import time
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any, Callable

from . import layout
from .context import Context
from .optim import Optimizers
from .patches import hide
from .steps import Steps

MOST_CALLS = 20_000_000
INSTEAD = "No step is counted, and verbs that measure take the time of the whole process instead."


class StepFunction:
    def __init__(self, context: Context, steps: Steps, optimizers: Optimizers) -> None:
        self.context, self.steps, self.optimizers = context, steps, optimizers
        self.guard = context.guard("the function of --step-function", "No step is counted from here on.")
        self.guard.let_go += [self._stop_tracing, self._stop_finding]
        self.given = context.options.step_function
        self.place, _, self.name = self.given.rpartition(":")
        self.is_file = self.place.endswith(".py")
        self.finder = Finder(self)
        self.original: Any = None
        self.wrapper: Any = None
        self.loaded: dict[str, Any] | None = None  # the names of the module, as soon as it was loaded
        self.frame: FrameType | None = None  # whose lines are traced
        self.seen_calls = 0
        self.refused = ""
        self.reset()

    def reset(self) -> None:
        self.calls = 0

    def install(self) -> None:
        if not self.given:
            return
        self.guard.patches.wrap(self.context.torch, "compile", self._around_compile)
        self.guard.at_end(self._at_end)
        running = self._running_frame()
        if running is not None:
            self.loaded = running.f_globals
            if not self.wrap_in(running.f_globals):
                self._trace(running)
                self.optimizers.when_made.append(self._look_again)
            return
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if isinstance(names, dict) and self.is_meant(names) and self.wrap_in(names):
                return
        sys.meta_path.insert(0, self.finder)

    # The module.

    def is_meant(self, names: dict[str, Any]) -> bool:
        if self.is_file:
            return self.is_path(names.get("__file__"))
        spec = names.get("__spec__")
        return self.place in (names.get("__name__"), getattr(spec, "name", None))

    def is_path(self, path: Any) -> bool:
        """The file itself, or one whose path ends like the one given."""
        if not isinstance(path, str):
            return False
        path = os.path.realpath(path)
        ending = os.path.normpath(self.place)
        return bool(path == os.path.realpath(self.place) or path.endswith(os.sep + ending.lstrip(os.sep)))

    def _running_frame(self) -> FrameType | None:
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code.co_name == "<module>" and self.is_meant(frame.f_globals):
                return frame
            frame = frame.f_back
        return None

    # Tracing the lines of a module that runs.

    def _trace(self, frame: FrameType) -> None:
        if sys.gettrace() is None:
            self.frame, frame.f_trace = frame, self._line
            sys.settrace(self._call)

    def _call(self, frame: FrameType, event: str, argument: Any) -> None:
        self.seen_calls += 1
        if self.seen_calls > MOST_CALLS:
            self._stop_tracing()

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        try:
            if not self.wrap_in(frame.f_globals) and event != "return":
                return self._line
        except Exception as error:
            self.guard.failed(error)
        self._stop_tracing()
        return None

    def _stop_tracing(self) -> None:
        if self.frame is not None:
            if sys.gettrace() == self._call:
                sys.settrace(None)
            self.frame.f_trace = None
            self.frame = None

    def _stop_finding(self) -> None:
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)

    def _look_again(self) -> None:
        """A new optimiser: the loop begins soon."""
        if self.wrapper is None and self.loaded is not None and self.guard.on:
            try:
                self.wrap_in(self.loaded)
            except Exception as error:
                self.guard.failed(error)

    # Wrapping.

    def wrap_in(self, names: dict[str, Any]) -> bool:
        """Returns whether the function was there. What is there and no function that returns once a step is refused."""
        self.loaded = names
        *classes, name = self.name.split(".")
        owner: Any = None
        for each in classes:
            owner = names.get(each) if owner is None else vars(owner).get(each)
            if not isinstance(owner, type):
                return False
        held = names.get(name) if owner is None else inspect.getattr_static(owner, name, None)
        if held is None:
            return False
        kind = type(held) if isinstance(held, (staticmethod, classmethod)) else None
        function = held.__func__ if kind else held
        self._stop_finding()
        if not callable(function):
            self.refused = f"is of the type {type(function).__name__}, which cannot be called"
        elif inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            self.refused = "is a coroutine or a generator, which returns before its work is done"
        else:
            self.original, self.wrapper = function, self._around(function)
            self._put(names, owner, name, kind(self.wrapper) if kind else self.wrapper)
            self.guard.let_go.append(lambda: self._put_back(names, owner, name, held))
        return True

    @staticmethod
    def _put(names: dict[str, Any], owner: Any, name: str, value: Any) -> None:
        if owner is None:
            names[name] = value
        else:
            setattr(owner, name, value)

    def _put_back(self, names: dict[str, Any], owner: Any, name: str, held: Any) -> None:
        now = names.get(name) if owner is None else vars(owner).get(name)
        if getattr(now, "__func__", now) is self.wrapper:
            self._put(names, owner, name, held)

    def _around(self, original: Any) -> Callable[..., Any]:
        @functools.wraps(original)
        def step_function(*args: Any, **kwargs: Any) -> Any:
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            self._returned()
            return result

        return step_function

    def _returned(self) -> None:
        context = self.context
        if not self.guard.on or not context.counts_steps:
            return
        entered = time.perf_counter_ns()
        try:
            self.calls += 1
            self.steps.program_says()
        except Exception as error:
            self.steps.guard.failed(error)
        context.hook_calls += 1
        context.cost_ns += time.perf_counter_ns() - entered

    def _around_compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Lets the program's own function be compiled, and counts the steps around the compiled one."""

        def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
            ours = model is not None and model is self.wrapper
            try:
                result = original(self.original if ours else model, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            return self._around(result) if ours else result

        return compile

    # When it was not found, or not called.

    def _at_end(self) -> None:
        self._stop_tracing()
        if self.calls or not (self.context.backwards or self.loaded is not None):
            return
        if self.refused:
            why = self.refused
        elif self.loaded is None:
            why = f"was not found: the program loaded no {self.place}{self._alike(loaded_modules(self.is_file))}"
        elif self.wrapper is None:
            why = f"was not found: {self.place} has no {self.name}{self._alike(functions_of(self.loaded))}"
        else:
            why = "was never called"
        self.context.message(layout.WARNING, f"--step-function {self.given} {why}. {INSTEAD}")

    def _alike(self, names: list[str]) -> str:
        import difflib

        wanted = self.place if self.loaded is None else self.name
        found = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
        return f"; similar names: {', '.join(found)}" if found else ""


def functions_of(names: dict[str, Any]) -> list[str]:
    """The functions and methods that a module defines."""
    found = []
    for name, value in list(names.items()):
        if isinstance(value, type) and value.__module__ == names.get("__name__"):
            found += [f"{name}.{method}" for method, held in vars(value).items() if callable(held)]
        elif inspect.isfunction(value):
            found.append(name)
    return found


def loaded_modules(files: bool) -> list[str]:
    modules = list(sys.modules.items())
    if not files:
        return [name for name, _ in modules]
    libraries = (os.path.dirname(os.__file__), os.path.dirname(os.path.abspath(__file__)))
    # Python takes __file__ off the script before it calls what is to be done at the end.
    paths = [*sys.argv[:1], *(getattr(module, "__file__", None) for _, module in modules)]
    own = (
        path
        for path in paths
        if isinstance(path, str) and "site-packages" not in path and not path.startswith(libraries)
    )
    return [os.path.basename(path) for path in own]


class Finder:
    """Finds nothing itself: gives the spec of the module that is meant a loader that lets it be looked at."""

    def __init__(self, function: StepFunction) -> None:
        self.function = function
        folder, file = os.path.split(function.place)
        self.last = os.path.basename(folder) if file == "__init__.py" else file[: -len(".py")]

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not self._is_asked_for(name):
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                self._look_at(spec)
                return spec
        return None

    def _is_asked_for(self, name: str) -> bool:
        return name.rpartition(".")[2] == self.last if self.function.is_file else name == self.function.place

    def _look_at(self, spec: ModuleSpec) -> None:
        function = self.function
        try:
            if hasattr(spec.loader, "exec_module") and (not function.is_file or function.is_path(spec.origin)):
                spec.loader = Loader(spec.loader, function)  # type: ignore[assignment]
        except Exception as error:
            function.guard.failed(error)


class Loader:
    """The real loader; once it has executed the module, the function is looked for."""

    def __init__(self, real: Any, function: StepFunction) -> None:
        self._real, self._function = real, function

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._real.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        if self._function.guard.on:
            try:
                self._function.wrap_in(vars(module))
            except Exception as error:
                self._function.guard.failed(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)
