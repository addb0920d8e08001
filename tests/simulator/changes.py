# SPDX-License-Identifier: Apache-2.0
"""Changes to a program, written as `gapless predict --what` writes them.

kernels=K        every kernel runs K times as long
kernels:REGEX=K  those whose name has a match of REGEX
host=K           all work of the host and the calls' own time take K times as long, not what they wait for
sync             the calls that only synchronise are gone, and no copy to the host is waited for: the copies stay, asynchronous.
                 Copies from pageable memory are staged by the host as before
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Callable

from simulator.program import Action, Await, Backward, Copy, Launch, Program, Record, Synchronize, Work

Rewrite = Callable[[Action], "Action | None"]


def scaled(ns: int, factor: float) -> int:
    return round(ns * factor)


def kernels(pattern: str, factor: float) -> Rewrite:
    matches = functools.lru_cache(maxsize=None)(re.compile(pattern).search)

    def rewrite(action: Action) -> Action:
        if isinstance(action, Launch) and matches(action.kernel):
            kernel, stream, device_ns, before_ns, after_ns, latency_ns, gap_ns = action
            return Launch(kernel, stream, scaled(device_ns, factor), before_ns, after_ns, latency_ns, gap_ns)
        return action

    return rewrite


def host(factor: float) -> Rewrite:
    def rewrite(action: Action) -> Action:
        if isinstance(action, Work):
            return Work(scaled(action.ns, factor))
        if isinstance(action, Launch):  # most actions: _replace would take longer than to simulate them
            kernel, stream, device_ns, before_ns, after_ns, latency_ns, gap_ns = action
            before_ns, after_ns = scaled(before_ns, factor), scaled(after_ns, factor)
            return Launch(kernel, stream, device_ns, before_ns, after_ns, latency_ns, gap_ns)
        if isinstance(action, (Copy, Record, Await, Synchronize)):
            return action._replace(before_ns=scaled(action.before_ns, factor), after_ns=scaled(action.after_ns, factor))
        if isinstance(action, Backward):
            return Backward(action.actions, scaled(action.there_ns, factor), scaled(action.back_ns, factor))
        return action

    return rewrite


def sync() -> Rewrite:
    def rewrite(action: Action) -> Action | None:
        if isinstance(action, Synchronize):
            return None
        if isinstance(action, Copy) and not action.to_device:
            return action._replace(waits=False)
        return action

    return rewrite


def parse(what: str) -> Rewrite:
    """One item of `--what`."""
    if what == "sync":
        return sync()
    name, _, factor = what.rpartition("=")
    if name == "host":
        return host(float(factor))
    if name == "kernels":
        return kernels("", float(factor))
    if name.startswith("kernels:"):
        return kernels(name[len("kernels:") :], float(factor))
    raise ValueError(f"no such change: {what}")


def rewritten(actions: Iterable[Action], rewrite: Rewrite) -> tuple[Action, ...]:
    found = []
    for action in actions:
        if isinstance(action, Backward):
            action = Backward(rewritten(action.actions, rewrite), action.there_ns, action.back_ns)
        changed = rewrite(action)
        if changed is not None:
            found.append(changed)
    return tuple(found)


def changed(program: Program, what: str) -> Program:
    """The program with the items of `what`, separated by commas."""
    for item in what.split(","):
        rewrite = parse(item)
        program = program._replace(steps=tuple(rewritten(step, rewrite) for step in program.steps))
    return program
