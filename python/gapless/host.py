# SPDX-License-Identifier: Apache-2.0
"""Memory and processors of this machine, as this process uses them."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import resource
import sys
import time
from typing import Any

GB = 1e9  # bytes; every `_gb` is in this unit
SOURCE = "host"  # of memory that is the resident memory of processes, as `gapless bench` names it


def cores() -> int:
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_gb() -> float:
    """Returns what this process may still take of the host's memory: of the machine, or of its control group if that has less."""
    found = math.inf
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                found = int(line.split()[1]) * 1024
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        if os.path.exists(limit) and os.path.exists(used):
            with open(limit, encoding="ascii") as most, open(used, encoding="ascii") as now:
                text = most.read().strip()
                if text.isdigit():
                    found = min(found, max(0, int(text) - int(now.read())))
    return found / GB


def resident_gb() -> float:
    """Returns the resident memory of this process; where the system does not say it, its peak."""
    found = _status("VmRSS")
    return peak_resident_gb() if found is None else found


def peak_resident_gb() -> float:
    """Returns the peak of the resident memory since forget_peak(), or since the start where that does nothing."""
    found = _status("VmHWM")
    if found is not None:
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / GB


def forget_peak() -> None:
    """Begins the peak anew (Linux)."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


def give_back() -> None:
    """Returns free memory to the system, so that resident memory is memory in use."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):  # another C library
        pass


class Processors:
    """A block in which the processor time of this process and its children is counted.

    `percent` is their time over the time of all processors that this process may use, 0–100; None for an empty block.
    """

    def __init__(self) -> None:
        self.percent: float | None = None

    def __enter__(self) -> Processors:  # noqa: PYI034 -- typing.Self is newer than Python 3.9
        self._children = _seconds_of_children()
        self._begun, self._own = time.perf_counter(), own_seconds()
        return self

    def __exit__(self, *_: object) -> None:
        passed, used = time.perf_counter() - self._begun, own_seconds() - self._own
        for process, seconds in _seconds_of_children().items():
            used += max(0.0, seconds - self._children.get(process, 0.0))
        if passed > 0:
            self.percent = min(100.0, max(0.0, used) / passed / cores() * 100)


def own_seconds() -> float:
    """Returns the processor seconds of this process and its ended children."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _seconds_of_children() -> dict[int, float]:
    """Returns processor seconds by process, of the living descendants of this one; empty where the system has no /proc."""
    parents: dict[int, tuple[int, float]] = {}
    try:
        processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return {}
    tick = os.sysconf("SC_CLK_TCK")
    for process in processes:
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        parents[process] = int(fields[1]), (int(fields[11]) + int(fields[12])) / tick
    found: dict[int, float] = {}
    own = {os.getpid()}
    while True:
        new = {process for process, (parent, _) in parents.items() if parent in own and process not in own}
        if not new:
            return found
        own |= new
        found.update({process: parents[process][1] for process in new})


def _status(name: str) -> float | None:
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024 / GB
    except OSError:
        pass
    return None


def is_cuda(device: Any) -> bool:
    """Returns True for a device of torch.cuda."""
    return device is not None and device.type == "cuda"
