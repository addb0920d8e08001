#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes nsys_two_processes.nsys-rep: the recording of make_nsys_sample.py in the container of Nsight Systems 2023.4.

It is made up by hand from docs/formats/nsys_rep.md; blocks are LZ4 of literals alone.
Usage: make_nsys_report.py FILE
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Sequence
from typing import Union

from make_nsys_sample import MS, OTHER, PIDS, TEXTS, global_pid

Value = Union[int, bytes, str]
NO_STREAM = 0xFFFFFFFF
ENVIRONMENT = "HOME=/root\0API_TOKEN=not-to-be-kept\0"  # a text that no row refers to


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*fields: tuple[int, Value]) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def block(content: bytes) -> bytes:
    plain = varint(len(content)) + content
    size, head = len(plain), bytearray()
    head.append(min(size, 15) << 4)
    rest = size - 15
    while rest >= 0:
        head.append(min(rest, 255))
        rest -= 255
    packed = bytes(head) + plain
    return varint(len(packed)) + varint(size) + packed


def event(kind: int, family: int, *fields: tuple[int, Value]) -> bytes:
    return message((1, kind), (family, message(*fields)))


def work(kind: int, start: int, end: int, stream: int, correlation: int, pid: int, own: tuple[int, bytes]) -> bytes:
    device = ((4, 0), (5, 1), (6, stream), (3, correlation), (8, global_pid(pid)))
    return event(kind, 107, (1, start), (2, end), *device, own)


def call(start: int, end: int, event_class: int, tid: int, name: int, *more: tuple[int, Value]) -> bytes:
    return event(48, 108, (1, start), (2, end), (6, event_class), (13, tid), (7, name), *more)


def events_of(which: int, pid: int) -> list[bytes]:
    late, tid = which * 3 * MS, global_pid(pid) | pid
    launch = ((10, 4), (11, 1), (12, 1), (13, 128), (14, 1), (15, 1), (16, 1024), (17, 2048))
    operator = "aten::mm, op_id = 7, seq = 3, sizes = [[2, 3], [3, 4]]"
    events = [
        event(27, 113, (1, 0), (2, global_pid(pid)), (5, "python"), (6, "python3"), (9, ENVIRONMENT)),
        event(59, 102, (1, 59), (2, 10 * MS + late), (10, 40 * MS + late), (9, tid), (12, 9)),
        event(59, 102, (1, 59), (2, 11 * MS + late), (10, 14 * MS + late), (9, tid), (7, operator)),
        event(60, 102, (1, 60), (2, 12 * MS + late), (10, 38 * MS + late), (9, tid), (7, "epoch")),
        event(59, 102, (1, 59), (2, 13 * MS + late), (9, tid), (7, "never ends")),
        event(34, 102, (1, 34), (2, 13 * MS + late), (9, tid), (7, "a mark")),
        call(12 * MS + late, 13 * MS + late, 0, tid, 1, (3, 1)),
        call(15 * MS + late, 16 * MS + late, 0, tid, 2, (3, 2)),
        call(17 * MS + late, 18 * MS + late, 0, tid, 1, (3, 3)),
        call(19 * MS + late, 39 * MS + late, 0, tid, 3, (3, 4)),
        call(19 * MS + late, 39 * MS + late, 0, tid, 4, (3, 4)),
    ]
    for start, end, stream, correlation, name, registers in (
        (14, 24, 7, 1, 5, 90),
        (25, 35, 20, 3, 7, 96),
    ):
        own = (101, message((1, name), (2, name + 1), (21, registers), *launch))
        events.append(work(79, start * MS + late, end * MS + late, stream, correlation, pid, own))
    copy = (102, message((1, 4096), (2, 1), (4, 0), (5, 2)))
    events.append(work(80, 24 * MS + late, 25 * MS + late, 7, 2, pid, copy))
    sync = (105, message((1, 0xFFFFFFFF), (2, 4)))
    events.append(call(20 * MS + late, 34 * MS + late, 27, tid, 11))
    for moment, cpu, switched_in in ((5, 0, 0), (9, 2, 1), (21, 2, 0), (33, 0, 1), (41, 0, 0), (45, 1, 1)):
        fields = [(1, moment * MS + late), *([(3, cpu)] if cpu else []), *([(4, 1)] if switched_in else [])]
        events.append(event(41, 106, *fields, (6, tid)))
    events.append(work(106, 19 * MS + late, 38 * MS + late, NO_STREAM, 4, pid, sync))
    return events


def section_of_events() -> tuple[bytes, int]:
    """The section, and the place of its texts from behind its magic."""
    own = (101, message((1, 5), (2, 6), (21, 90), *((10 + i, 1) for i in range(6))))
    blocks = [events_of(which, pid) for which, pid in enumerate(PIDS)]
    blocks.append([work(79, 0, 5 * MS, 7, 9, 100, own), event(41, 106, (1, 22 * MS), (3, 2), (4, 1), (6, OTHER))])
    facts = message((1, message((1, 619), (2, "node1"))), (1, message((1, 610), (2, ENVIRONMENT))))
    start = 1_700_000_000_000_000_000
    clocks = message((1, message((1, 3), (2, 9), (5, str(-start)))))
    session = message((1, message((2, facts))), (16, clocks))
    texts = [*TEXTS, ENVIRONMENT]
    index = message((1, sum(map(len, blocks))), (3, len(texts)), (5, len(PIDS)), (9, "lz4"), (15, 0))
    names = message(*((1, message((2, 10), (3, 20), (4, global_pid(pid) | pid))) for pid in PIDS))
    gpus: list[tuple[int, Value]] = []
    for gpu in (0, 1):
        size = ((11, 80 << 30), (13, 1_980_000_000), (14, 132), (30, 32), (32, 64), (41, 9), (42, 0))
        gpus.append((7, message((1, gpu), (2, "Made-up GPU"), (3, f"0000:0{gpu}:00.0"), (5, f"uuid-{gpu}"), *size)))
        gpus.append((9, message((1, gpu), (2, 0), (3, PIDS[gpu]))))
    contexts = [(14, message((1, 7), (2, 0), (3, 1), (4, pid), (5, 0), (6, 1))) for pid in PIDS]
    target = message((1, message((2, message(*gpus)))), *contexts)
    head = b"".join(varint(len(part)) + part for part in (session, index))
    head += b"".join(block(message(*((1, one) for one in events))) for events in blocks)
    tail = block(message(*((1, text) for text in texts)))
    tail += b"".join(varint(len(part)) + part for part in (names, target))
    return b"QDTEXT00" + head + tail, len(head)


def container(sections: Sequence[tuple[str, bytes]]) -> bytes:
    out = b"NVIDIA Tegra Profiler Report 2023@4@4@54-234433681190v0."
    entries = b""
    for name, content in sections:
        entries += message((1, message((1, name), (2, len(out)), (3, len(content)))))
        out += content
    place = len(out)
    return out + entries + place.to_bytes(8, "little") + b"U3w[END]"


def write(path: str) -> None:
    events, texts = section_of_events()
    sections = [
        ("Analysis Options Data", b""),
        ("Raw Sampling Data", events),
        ("Sampling Data Offsets", message((1, "lz4"), (2, texts))),
        ("UI Data", message((6, "2023.4.4.54"), (25, "python3 train.py"))),
    ]
    pathlib.Path(path).write_bytes(container(sections))


if __name__ == "__main__":
    write(sys.argv[1])
