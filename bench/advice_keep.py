# SPDX-License-Identifier: Apache-2.0
"""Keeps a run folder (docs/run_bundle.md) as a small recording that can be passed on.

What stays is what a prediction needs: the recorded steps, the steps and settings that the agent reported, the processors that the
run used over time, and of the manifest what ran and on what. What goes is what the program never reads of an event, and whatever
tells of the machine's owner: the name of the host, its kernel, its disks and networks, folders, the variables PATH and PYTHONPATH,
the repository's branch. `check()` then looks at every byte of what is left.
"""

from __future__ import annotations

import getpass
import gzip
import json
import os
import re
import shutil
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOST = "host"
LEVEL = 9
MOST_BYTES = 150 * 1024  # of one recording, all its files
SERIES = ("host.cpu.", "host.load1", "host.tasks.", "process.cpu", "process.count", "process.threads", "thread.cpu/")
DROPPED_TEXTS = {"host.kernel"}
VARIABLES = re.compile(r"^(?:OMP|MKL|KMP|TORCH|PYTORCH|MALLOC)_")
UNREAD = (
    "Ev Idx",
    "Record function id",
    "Input Strides",
    "Python id",
    "Python parent id",
    "Python module id",
    "CallFrom",
)
TEXT, SERIES_RECORD, SAMPLES = 1, 2, 3  # kinds of records in telemetry.gts (src/wire/telemetry_stream.h)
RING_HOST, RING_HOST_BYTES = 128, 64  # in the header of agent-<pid>.events (src/wire/agent_ring.h)


def keep(run: Path, target: Path) -> int:
    """Writes what is kept of `run` to `target`; answers its size in bytes."""
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run)
        if not path.is_file() or name.parts[0] == "tools":
            continue
        to = target / name
        if path.name.endswith(".pt.trace.json.gz"):
            _write(to.with_name("recorded.pt.trace.json.gz"), _packed(_kineto(path)))
        elif path.suffix == ".events":
            _write(to, _events(path.read_bytes()))
        elif path.suffix == ".gts":
            _write(to, b"".join(_telemetry(path.read_bytes())))
        elif path.name == "manifest.json":
            _write(to, _manifest(json.loads(path.read_text(encoding="utf-8"))))
        elif path.name == "control":  # makes the folder one of a run
            _write(to, path.read_bytes())
    check(target)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _packed(content: bytes) -> bytes:
    return gzip.compress(content, LEVEL, mtime=0)


def _kineto(path: Path) -> bytes:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    for event in document["traceEvents"]:
        for name in UNREAD:
            event.get("args", {}).pop(name, None)
    document["host_name"] = HOST
    document["traceName"] = "recorded.pt.trace.json"
    return _relative(json.dumps(document, separators=(",", ":"))).encode()


def _relative(text: str) -> str:
    """Without the folders of this machine."""
    folders = {str(ROOT): "", sys.prefix: "python", sys.base_prefix: "python", str(Path.home()): "~"}
    for folder in sorted(folders, key=len, reverse=True):
        if len(folder) > 1:
            text = text.replace(folder + "/", folders[folder] and folders[folder] + "/")
    return text


def _events(content: bytes) -> bytes:
    host = HOST.encode().ljust(RING_HOST_BYTES, b"\0")
    return content[:RING_HOST] + host + content[RING_HOST + RING_HOST_BYTES :]


def _padded(body: bytes, kind: int, count: int) -> bytes:
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", len(body) + 8, kind, count) + body


def _telemetry(content: bytes) -> Iterator[bytes]:
    (header_bytes,) = struct.unpack_from("<I", content, 12)
    yield content[:header_bytes]
    kept: set[int] = set()
    at = header_bytes
    while at + 8 <= len(content):
        size, kind, count = struct.unpack_from("<IHH", content, at)
        record, body = content[at : at + size], content[at + 8 : at + size]
        at += size
        if kind == TEXT:
            key_bytes, value_bytes = struct.unpack_from("<II", body)
            key = body[8 : 8 + key_bytes].decode()
            value = HOST.encode() if key == "host" else body[8 + key_bytes : 8 + key_bytes + value_bytes]
            if key not in DROPPED_TEXTS:
                yield _padded(struct.pack("<II", key_bytes, len(value)) + key.encode() + value, TEXT, 0)
        elif kind == SERIES_RECORD:
            number, _, name_bytes, _ = struct.unpack_from("<IiII", body)
            if body[16 : 16 + name_bytes].decode().startswith(SERIES):
                kept.add(number)
                yield record
        elif kind == SAMPLES:
            values = struct.unpack_from(f"<{count}d", body, 8)
            numbers = struct.unpack_from(f"<{count}I", body, 8 + 8 * count)
            both = [(value, number) for value, number in zip(values, numbers) if number in kept]
            if both:
                kept_values, kept_numbers = zip(*both)
                packed = struct.pack(f"<{len(both)}d", *kept_values) + struct.pack(f"<{len(both)}I", *kept_numbers)
                yield _padded(body[:8] + packed, SAMPLES, len(both))
        else:
            yield record


def _manifest(document: dict[str, Any]) -> bytes:
    document["command"] = ["python", *[_relative(word) for word in document["command"][1:]]]
    document["folder"] = "."
    document["host"].update(name=HOST, kernel=document["host"]["kernel"].split()[0])
    document["environment"] = {name: value for name, value in document["environment"].items() if VARIABLES.match(name)}
    document.pop("git", None)
    document["tools"] = []  # what was put into the process is not kept
    for process in document["processes"]:
        process["host"] = HOST
        process["recordings"] = ["recorded.pt.trace.json.gz" for _ in process["recordings"]]
    return _relative(json.dumps(document, indent=1)).encode() + b"\n"


READABLE = re.compile(rb"[\x20-\x7e]{4,}")  # what is shorter comes about by chance
ABSOLUTE = re.compile(rb"(?<![\w.<>~)\]])/(?:home|root|work|usr|opt|var|mnt|tmp|srv|Users|data|etc|proc)/[\w.+-]+")


def check(folder: Path) -> None:
    """Raises when something of what was kept names this machine, its users or its folders."""
    names = {os.uname().nodename, socket.gethostname(), getpass.getuser()} - {HOST, "root", "localhost", ""}
    words = re.compile(rb"(?<![\w-])(?:" + b"|".join(re.escape(name).encode() for name in names) + rb")(?![\w-])")
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        for text in READABLE.findall(content):
            found = ABSOLUTE.search(text) or (words.search(text) if names else None)
            if found:
                around = text[max(0, found.start() - 40) : found.end() + 40]
                raise ValueError(f"{path}: {found[0]!r} in {around!r}")
