# SPDX-License-Identifier: Apache-2.0
"""The file of a Python profile, `python-<pid>.host.json`, and beside it, for sampled stacks, one that speedscope opens.

{"format": "gapless.host", "version": 1, "pid": …, "kind": "sample" | "cprofile" | "lines" | "tracemalloc",
 "start_unix_ns": …, "end_unix_ns": …,
 "functions": [{"file", "line", "function", "calls", "self_ns", "total_ns"}],   calls is null where stacks were sampled
 "lines": [{"file", "line", "hits", "self_ns", "bytes"}],                       what a kind does not know is null
 "samples": {"hz", "threads": [{"id", "name"}], "frames": [{"file", "line", "function"}],
             "nodes": [[parent, frame, line]],             a stack is a path in this tree; parent -1: none
             "ts_ns": […], "dur_ns": […], "thread": […], "node": […]}}    one sample per position; unix ns
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from .own_files import make_file, remove

SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"
MOST_ROWS = 5000


def base(kind: str, start_unix_ns: int) -> dict[str, Any]:
    return {
        "format": "gapless.host",
        "version": 1,
        "pid": os.getpid(),
        "kind": kind,
        "start_unix_ns": start_unix_ns,
        "end_unix_ns": time.time_ns(),
        "functions": [],
        "lines": [],
        "samples": None,
    }


def write(path: str, tables: dict[str, Any]) -> None:
    _put(path + ".host.json", tables)
    if tables["samples"] is not None:
        _put(path + ".speedscope.json", speedscope(tables))


def _put(path: str, value: Any) -> None:
    part = path + ".part"
    try:
        with open(make_file(part), "w", encoding="utf-8") as file:
            file.write(json.dumps(value, separators=(",", ":")))
        os.rename(part, path)
    except OSError:
        remove(part)
        raise


def speedscope(tables: dict[str, Any]) -> dict[str, Any]:
    samples = tables["samples"]
    frames = [{"name": frame["function"], "file": frame["file"], "line": frame["line"]} for frame in samples["frames"]]
    stacks: list[list[int]] = []
    for parent, frame, _ in samples["nodes"]:
        stacks.append([*(stacks[parent] if parent >= 0 else []), frame])
    profiles = []
    for index, thread in enumerate(samples["threads"]):
        at = [place for place, sampled in enumerate(samples["thread"]) if sampled == index]
        weights = [samples["dur_ns"][place] for place in at]
        profiles.append(
            {
                "type": "sampled",
                "name": thread["name"],
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": [stacks[samples["node"][place]] for place in at],
                "weights": weights,
            }
        )
    name = f"python {tables['pid']}"
    return {"$schema": SPEEDSCOPE, "name": name, "shared": {"frames": frames}, "profiles": profiles}
