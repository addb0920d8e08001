# SPDX-License-Identifier: Apache-2.0
"""Times whole processes: wall time and peak resident memory.

A virtual machine gives memory that nobody uses back to its host, and gets it again page by page, 5 ms a megabyte as measured.
Of commands in turn, the one that takes more memory than the one before it would pay for that. So memory is touched before each.
"""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys
import time
from typing import NamedTuple

TOUCH = """
import mmap, sys
memory = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)  # as the columns of a recording are
for page in range(0, len(memory), mmap.PAGESIZE):
    memory[page] = 1
"""


class Taken(NamedTuple):
    seconds: float
    peak_bytes: int


def take(command: list[str], touch_bytes: int) -> Taken:
    """Runs the command to its end, after another process has used `touch_bytes`; ends the program if the command fails."""
    subprocess.run([sys.executable, "-c", TOUCH, str(touch_bytes)], check=True)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = status
    if status != 0:
        sys.exit(f"cannot time {' '.join(command)}: it failed with {status}")
    if (
        usage.ru_maxrss <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ):  # a child starts with the peak of its parent
        sys.exit(f"cannot tell the peak memory of {' '.join(command)}: it is that of this program")
    return Taken(seconds, usage.ru_maxrss * 1024)


def count_events(tables: str, path: pathlib.Path) -> int:
    out = subprocess.run([tables, str(path)], capture_output=True, text=True, check=True).stdout
    return int(out.split()[0])
