# SPDX-License-Identifier: Apache-2.0
"""Adds the calling line to each Python function of a recording: "CallFrom": "train.py:15".

The name of a Python function in the profiler's file has the function's own line. The calling line is known to every version of
PyTorch that is supported, but only newer ones write it; for older ones it is added here, in the form of the newer ones. The profiler
numbers Python functions by their start ("Python id", from 1).
"""

from __future__ import annotations

import json
import mmap
import re
from gzip import GzipFile
from typing import IO, Any

_ID = re.compile(rb'"Python id": (\d+)')
_STEP = re.compile(rb'"ProfilerStep#(\d+)"')
_KINDS = ("PyCall", "PyCCall")
BLOCK = 1 << 20  # bytes of the file that are worked on at once


def has_calls(path: str) -> bool:
    """Returns true if the file needs no lines: they are there, or no Python function was recorded."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b'"CallFrom": ') >= 0 or content.find(b'"Python id": ') < 0


def calls_of(profiler: Any) -> list[bytes]:
    """Returns the places that called the Python functions of a stopped profiler, as JSON texts, in the order of their numbers."""
    found: list[tuple[int, bytes]] = []
    texts: dict[tuple[str, int], bytes] = {}
    events = list(reversed(profiler.profiler.kineto_results.experimental_event_tree()))
    while events:
        event = events.pop()
        events.extend(reversed(event.children))
        if event.tag.name in _KINDS:
            caller = event.extra_fields.caller
            place = (caller.file_name, caller.line_number)
            if place not in texts:
                texts[place] = json.dumps(f"{place[0]}:{place[1]}").encode()
            found.append((event.start_time_ns, texts[place]))
    found.sort(key=lambda entry: entry[0])
    return [text for _, text in found]


def copy_changed(source: IO[bytes], target: GzipFile, calls: list[bytes], left_out: list[int]) -> None:
    """Copies the profiler's file, with `calls` added to it, and the marks of the steps `left_out` called otherwise."""

    def with_call(match: re.Match[bytes]) -> bytes:
        number = int(match.group(1))
        return b'"CallFrom": %s, %s' % (calls[number - 1], match.group()) if 0 < number <= len(calls) else match.group()

    def with_name(match: re.Match[bytes]) -> bytes:
        number = int(match.group(1))
        return b'"Step %d, left out"' % number if number in left_out else match.group()

    while lines := source.readlines(BLOCK):
        text = b"".join(lines)
        text = _ID.sub(with_call, text) if calls else text
        target.write(_STEP.sub(with_name, text) if left_out else text)
