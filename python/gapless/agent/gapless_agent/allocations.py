# SPDX-License-Identifier: Apache-2.0
"""tracemalloc: which lines hold the memory of Python objects when the program ends."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

from . import host_file


class Allocations:
    def start(self) -> str:
        """Answers why not, or ""."""
        if tracemalloc.is_tracing():
            return "the program traces allocations itself"
        self.started = time.time_ns()
        tracemalloc.start(1)
        return ""

    def restart(self) -> None:
        tracemalloc.clear_traces()
        self.started = time.time_ns()

    def tables(self) -> dict[str, Any]:
        tables = host_file.base("tracemalloc", self.started)
        if tracemalloc.is_tracing():
            for entry in tracemalloc.take_snapshot().statistics("lineno")[: host_file.MOST_ROWS]:
                where = entry.traceback[0]
                row = {"file": where.filename, "line": where.lineno, "hits": entry.count, "self_ns": None}
                tables["lines"].append({**row, "bytes": entry.size})
            tracemalloc.stop()
        return tables
