# SPDX-License-Identifier: Apache-2.0
"""cProfile over the whole program: how often each function is called. Slows the program down; counts are exact, times less so.

What it costs is known from the number of calls and the time of one, which is measured at the start.
"""

from __future__ import annotations

import cProfile
import sys
import time
from typing import Any

from . import host_file
from .edits import is_own

ROUNDS = 2000


class CallProfile:
    def start(self) -> str:
        """Answers why not, or ""."""
        if sys.getprofile() is not None:
            return "the program is being profiled already"
        try:
            self.call_ns = measure()
            self._begin()
        except ValueError as error:
            return str(error)
        return ""

    def _begin(self) -> None:
        self.started = time.time_ns()
        self.profile = cProfile.Profile()
        self.profile.enable()

    def cost_ns(self) -> int:
        return int(self.call_ns * sum(entry.callcount for entry in self.profile.getstats()))

    def restart(self) -> None:
        self.profile.disable()
        self._begin()

    def tables(self) -> dict[str, Any]:
        self.profile.disable()
        tables = host_file.base("cprofile", self.started)
        rows: list[dict[str, Any]] = []
        for entry in self.profile.getstats():
            code: Any = entry.code
            if not isinstance(code, str) and is_own(code.co_filename):
                continue
            where = ("", 0, code) if isinstance(code, str) else (code.co_filename, code.co_firstlineno, code.co_name)
            times = {"self_ns": int(entry.inlinetime * 1e9), "total_ns": int(entry.totaltime * 1e9)}
            rows.append({"file": where[0], "line": where[1], "function": where[2], "calls": entry.callcount, **times})
        tables["functions"] = sorted(rows, key=lambda row: -row["self_ns"])[: host_file.MOST_ROWS]
        return tables


def nothing() -> None:
    pass


def call_often() -> int:
    """Returns the time of ROUNDS calls."""
    begun = time.perf_counter_ns()
    for _ in range(ROUNDS):
        nothing()
    return time.perf_counter_ns() - begun


def measure() -> float:
    """The time that cProfile adds to a call."""
    plain_ns = call_often()
    profile = cProfile.Profile()
    profile.enable()
    try:
        counted_ns = call_often()
    finally:
        profile.disable()
    return max(0, counted_ns - plain_ns) / ROUNDS
