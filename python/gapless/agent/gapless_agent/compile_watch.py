# SPDX-License-Identifier: Apache-2.0
"""torch.compile: what was compiled, compiled again, or broke a graph. Read from its own counters, which it keeps anyway."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from . import layout
from .context import Context
from .patches import hide


class CompileWatch:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.guard = context.guard(
            "torch.compile", "What is compiled, again or in pieces, is not in the run from here on."
        )
        self.when_called: list[Callable[[Any], None]] = []
        self.when_loaded: list[Callable[[Callable[[Any], Any]], None]] = []
        self.left_out = False
        self.called = False
        self.reset()

    def reset(self) -> None:
        self.last: Any = None
        self.compiled = 0
        self.breaks: dict[str, int] = {}

    def install(self) -> None:
        self.guard.patches.wrap(self.context.torch, "compile", self._around_compile)

    def _around_compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def compile(*args: Any, **kwargs: Any) -> Any:
            self.called = self.context.attention = True
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if self.guard.on:
                try:
                    self._leave_out_the_agent()
                    for called in self.when_called:
                        called(args[0] if args else kwargs.get("model"))
                except Exception as error:
                    self.guard.failed(error)
            return result

        return compile

    def _leave_out_the_agent(self) -> None:
        """The compiler must run our hooks as it runs torch's own Python code, not trace and compile them: nor what they call."""
        dynamo = sys.modules.get("torch._dynamo")
        rules = sys.modules.get("torch._dynamo.trace_rules") or sys.modules.get("torch._dynamo.skipfiles")
        if dynamo is not None and rules is not None and not self.left_out:
            self.left_out = True
            rules.add(__package__)
            for leave_out in self.when_loaded:
                leave_out(dynamo.disable)

    def at_step(self, step: int) -> None:
        utils = sys.modules.get("torch._dynamo.utils")
        counters = getattr(utils, "counters", None)
        if counters is None:
            return
        compiled = counters["frames"]["total"] if "frames" in counters else 0
        if compiled == self.compiled:
            return
        metrics = getattr(utils, "_compilation_metrics", None)
        if metrics is not None:
            self._new(list(metrics), step)
        else:
            self._old(getattr(utils, "compilation_metrics", {}), compiled, step)
        self.compiled = compiled
        for reason, count in (counters.get("graph_break", {})).items():
            if count > self.breaks.get(reason, 0):
                self._say(layout.GRAPH_BREAK, 0, 0, str(reason), step)
            self.breaks[reason] = count

    def _new(self, metrics: list[Any], step: int) -> None:
        """torch 2.2 and later keep an object for each frame."""
        fresh: list[Any] = []
        for entry in reversed(metrics):
            if entry is self.last:
                break
            fresh.append(entry)
        for entry in reversed(fresh):
            again = bool(getattr(entry, "accumulated_cache_size", 0) or getattr(entry, "cache_size", 0))
            seconds = getattr(entry, "entire_frame_compile_time_s", None) or 0.0
            began = getattr(entry, "start_time", None) or time.time() - seconds
            where = f"{entry.co_name} ({entry.co_filename}:{entry.co_firstlineno})"
            reasons = [getattr(entry, name, None) for name in ("recompile_reason", "fail_reason")]
            text = ": ".join([where, *[str(reason) for reason in reasons if reason]])
            value = layout.COMPILED_AGAIN if again else layout.COMPILED
            self._say(value, int(began * 1e9), int(seconds * 1e9), text, step)
        if metrics:
            self.last = metrics[-1]

    def _old(self, metrics: dict[str, list[float]], compiled: int, step: int) -> None:
        """torch 2.0 and 2.1 keep times only."""
        times = metrics.get("_compile", [])
        for seconds in times[len(times) - (compiled - self.compiled) :]:
            self._say(layout.COMPILED, 0, int(float(seconds) * 1e9), "", step)

    def _say(self, value: int, ts_ns: int, dur_ns: int, text: str, step: int) -> None:
        context = self.context
        a = context.text(text) if text else 0
        context.emit(layout.KIND_COMPILE, value=value, ts_ns=ts_ns, dur_ns=dur_ns, a=a, b=step - 1)
