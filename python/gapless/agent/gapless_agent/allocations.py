# SPDX-License-Identifier: Apache-2.0
"""Lines that hold memory when the program ends: Python objects as tracemalloc counts them, and what tensors keep outside of Python.

A tensor is a small Python object in front of a large storage, which tracemalloc does not see. Its object knows the line that made it: the
bytes of the storage, or on a GPU those of the device, are that line's. A storage that several tensors share counts once, for the first.
"""

from __future__ import annotations

import ctypes
import gc
import sys
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
            rows: dict[tuple[str, int], dict[str, Any]] = {}
            for where, size in stored():
                row = rows.setdefault(
                    where, {"file": where[0], "line": where[1], "hits": 0, "self_ns": None, "bytes": 0}
                )
                row["bytes"] += size
            for entry in tracemalloc.take_snapshot().statistics("lineno")[: host_file.MOST_ROWS]:
                frame = entry.traceback[0]
                where = (frame.filename, frame.lineno)
                row = rows.setdefault(
                    where, {"file": where[0], "line": where[1], "hits": 0, "self_ns": None, "bytes": 0}
                )
                row["hits"] += entry.count
                row["bytes"] += entry.size
            tables["lines"] += sorted(rows.values(), key=lambda row: -row["bytes"])[: host_file.MOST_ROWS]
            tracemalloc.stop()
        return tables


def stored() -> list[tuple[tuple[str, int], int]]:
    """Returns for each storage of a living tensor the line that made the tensor, and the storage's bytes."""
    torch = sys.modules.get("torch")
    found: list[tuple[tuple[str, int], int]] = []
    if torch is None:
        return found
    seen = set()
    for item in gc.get_objects():
        try:
            if not issubclass(type(item), torch.Tensor):
                continue
            storage = item.untyped_storage()
            place = (str(storage.device), storage.data_ptr())
            made = line_of(item)
            if place[1] == 0 or place in seen or made is None:
                continue
            seen.add(place)
            found.append((made, storage.nbytes()))
        except Exception:  # a tensor without a storage, such as a sparse one
            continue
    return found


# In front of an object lie, as its type wants them, the head of the collector and the places of its dictionary and weak references.
# Python 3.11 forgets the latter when it is asked for the object, so that the address of the allocation has to be tried.
HEADS = (32, 16, 0)


def line_of(item: Any) -> tuple[str, int] | None:
    """Returns file and line that made the object; None where it was not traced, or where Python does not tell."""
    made = tracemalloc.get_object_traceback(item)
    if made is not None:
        return made[0].filename, made[0].lineno
    ask = getattr(ctypes.pythonapi, "_PyTraceMalloc_GetTraceback", None)
    if ask is None:
        return None
    ask.restype, ask.argtypes = ctypes.py_object, (ctypes.c_uint, ctypes.c_size_t)
    for head in HEADS:
        frames = ask(0, id(item) - head)
        if frames:
            file, line = frames[0][:2]
            return str(file), int(line)
    return None
