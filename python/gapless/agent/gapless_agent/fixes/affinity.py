# SPDX-License-Identifier: Apache-2.0
"""The process stays on the processors near its GPU; of several ranks on a host, each on a share of its own. `affinity=0-7` names them."""

from __future__ import annotations

import contextlib
import glob
import os
import re

from .. import edits
from ..fix import ProgramFix


class Affinity(ProgramFix):
    live = True
    before: set[int]  # the processors that the process had

    def why_not(self, value: str) -> str:
        if not hasattr(os, "sched_setaffinity"):
            return "this system cannot bind processes to processors"
        chosen = wanted(value)
        if not chosen:
            return f"{value!r} names no processors that the command may use"
        return "the process may use no other processors" if chosen == os.sched_getaffinity(0) else ""

    def on(self, value: str) -> str:
        self.before = os.sched_getaffinity(0)
        chosen = wanted(value)
        _bind(chosen)
        text = ", ".join(map(str, sorted(chosen)))
        edit = (
            edits.after_imports(f"os.sched_setaffinity(0, {{{text}}})", imports=("import os",))
            if _share()[1] == 1
            else None
        )
        self.report.changed(f"{len(self.before)} processors → {text}", edit)
        return ""

    def off(self) -> str:
        _bind(self.before)
        return f"{len(self.before)} processors"


def parse(text: str) -> set[int]:
    """`0-3,8`, as the kernel writes lists of processors; empty if the text is no such list."""
    found: set[int] = set()
    for part in text.strip().split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part)
        if match is None:
            return set()
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return found


def _near_gpu(local: int) -> set[int]:
    """The processors of the memory node that the GPU hangs on; empty: not known."""
    devices = sorted(os.path.basename(path) for path in glob.glob("/proc/driver/nvidia/gpus/*"))
    visible = [entry.strip() for entry in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if entry.strip()]
    if visible and all(entry.isdigit() for entry in visible):
        devices = [devices[int(entry)] for entry in visible if int(entry) < len(devices)]
    if local >= len(devices):
        return set()
    try:
        with open(f"/sys/bus/pci/devices/{devices[local].lower()}/local_cpulist", encoding="ascii") as file:
            return parse(file.read())
    except OSError:
        return set()


def _share() -> tuple[int, int]:
    """Returns the index of this rank on this host, and the number of its ranks."""
    local, count = os.environ.get("LOCAL_RANK", ""), os.environ.get("LOCAL_WORLD_SIZE", "")
    return (int(local), int(count)) if local.isdigit() and count.isdigit() and int(local) < int(count) else (0, 1)


def wanted(value: str) -> set[int]:
    may = os.sched_getaffinity(0)
    if value:
        return parse(value) & may
    local, count = _share()
    near = _near_gpu(local) & may or may
    same = [rank for rank in range(count) if (_near_gpu(rank) & may or may) == near]
    ordered, place = sorted(near), same.index(local)
    size = len(ordered) // len(same)
    return set(ordered[place * size : (place + 1) * size]) or near


def _bind(chosen: set[int]) -> None:
    """All threads that exist; those that are made later follow their maker."""
    for thread in os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else ["0"]:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread), chosen)


FIX = Affinity
