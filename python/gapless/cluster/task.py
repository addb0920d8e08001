# SPDX-License-Identifier: Apache-2.0
"""One recording becomes one file of its summary, on whatever machine this runs: the task that every engine gets.

The program `gapless summarize` does it in a process of its own. An object of a store is streamed to it, so that nothing lies on a disk.
What comes back is small: the name of the file that was written, and its digest; without a place to write to, its content.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from ..program import BAD_INPUT, NO_PROGRAM, ProgramError, find_program
from . import storage

BLOCK = 4 << 20  # bytes that are read of an object at once
TICK = 0.1  # seconds between two looks at a task's process
HEAD = struct.Struct("<8sIIQQQ")  # of a summary: docs/formats/summary.md
MAGIC = b"\x01GAPSUM\n"
USAGE = 2


@dataclass(frozen=True)
class Task:
    """All that a worker needs to know. `stamp` is 16 digits that stand for the recording as it is now."""

    name: str  # of the recording, in reports
    place: str  # path or URL
    stamp: str
    kind: str = "file"  # "file", "stream" (an object of a store) or "tree" (a run folder in one)
    size: int | None = None  # bytes that the store says it has
    files: tuple[tuple[str, int | None], ...] = ()  # of a tree: names below it, with their sizes
    rank: int | None = None  # that was given with it
    to: str = ""  # folder or URL that takes the summary; "": its content is returned
    memory: int | None = None
    threads: int = 1
    timeout: float = 60.0
    token: str = ""  # of the call, in the names of files that are not whole yet
    storage_options: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Outcome:
    """An Outcome says how a task ended: "done", "lost" (the recording is to blame, and would be again) or "died" (its process is)."""

    kind: str
    reason: str = ""
    hint: str = ""  # what to do about it
    file: str = ""
    rank: int | None = None
    digest: str = ""
    size: int = 0  # of the file
    read: int = 0
    seconds: float = 0.0
    content: bytes | None = field(default=None, repr=False)
    parts_lost: tuple[tuple[str, str, str], ...] = ()  # recordings of a folder or archive: path, reason, hint


class Lost(Exception):
    """The recording cannot be read; the text says why."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


class Died(Exception):
    """The process of a task ended, and not by itself."""


class Stopped(Exception):
    """Whoever waits for the task does so no longer."""


def run(task: Task, stopped: threading.Event | None = None) -> Outcome:
    """Does the task. Raises ProgramError where this machine lacks something, such as the program."""
    began = time.monotonic()
    program = find_program()
    if program is None:
        raise ProgramError(NO_PROGRAM)
    with tempfile.TemporaryDirectory(prefix="gapless-task-") as folder:
        try:
            feed = _Feed(task) if task.kind == "stream" else None
            place = _fetched(task, folder) if task.kind == "tree" else task.place
            document = _summarize(program, task, place, folder, feed, stopped)
            name, content = _one_file(program, task, document, folder)
            _put(task, name, content)
        except Lost as error:
            return Outcome("lost", storage.without_secrets(str(error), task.storage_options), error.hint)
        except Died as error:
            return Outcome("died", str(error))
    return Outcome(
        "done", file=name, rank=_rank(document), digest=digest_of(content), size=len(content),
        read=feed.read if feed else task.size or 0, seconds=time.monotonic() - began,
        content=None if task.to else content,
        parts_lost=tuple((lost["path"], lost["reason"], lost["hint"]) for lost in document["lost"]),
    )  # fmt: skip


def digest_of(content: bytes) -> str:
    """The checksum that a summary has in its head; of several in one file, one of all of it."""
    if content.startswith(MAGIC) and len(content) >= HEAD.size:
        return f"{HEAD.unpack_from(content)[5]:016x}"
    return hashlib.sha256(content).hexdigest()[:16]


def is_whole(head: bytes, size: int) -> bool:
    """Does a file of this size that begins so hold all of a summary, or of an archive of them?"""
    if head.startswith(MAGIC):
        return len(head) >= HEAD.size and HEAD.size + sum(HEAD.unpack_from(head)[3:5]) == size
    return size > 1024 and size % 512 == 0


class _Feed(threading.Thread):
    """Reads an object and writes it into the pipe of a process. It may hang in a read for as long as the store likes: whoever waits
    for the process looks at `silent_for`, and leaves the thread behind."""

    def __init__(self, task: Task) -> None:
        super().__init__(daemon=True)
        self.read = 0
        self.failure = ""
        self._task = task
        self._reading_since: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._store, self._path = storage.file_system(task.place, task.storage_options)  # says what is not installed

    def into(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.start()

    def silent_for(self) -> float:
        since = self._reading_since
        return 0.0 if since is None else time.monotonic() - since

    def run(self) -> None:
        process = self._process
        assert process is not None and process.stdin is not None
        try:
            self._copy(process.stdin)
        except BrokenPipeError:
            return  # the program has read enough to say what is wrong
        except Exception as error:
            self.failure = storage.reason_of(error)
        if not self.failure and self._task.size is not None and self.read < self._task.size:
            self.failure = f"cut off: {self.read:,} of {self._task.size:,} bytes came"
        if self.failure:
            process.kill()  # before it sees the end, and takes what came for all
        with contextlib.suppress(OSError):
            process.stdin.close()

    def _copy(self, pipe: Any) -> None:
        self._reading_since = time.monotonic()
        with storage.opened(self._store, self._path) as source:
            while block := source.read(BLOCK):
                self._reading_since = None
                pipe.write(block)
                self.read += len(block)
                self._reading_since = time.monotonic()
        self._reading_since = None


def _summarize(
    program: str, task: Task, place: str, folder: str, feed: _Feed | None, stopped: threading.Event | None
) -> dict[str, Any]:
    """Calls the program. Its answer is a document of `gapless summarize`."""
    rank = "" if task.rank is None else f"{task.rank}="
    words = [program, "summarize", rank + ("-" if feed else place), "--name", task.name, "-o", os.path.join(folder, "out"), "--json"]  # fmt: skip
    words += ["--no-cache", "--ends-with-parent", *(["--memory", str(task.memory)] if task.memory else [])]
    environment = {**os.environ, "GAPLESS_THREADS": os.environ.get("GAPLESS_THREADS", str(task.threads))}
    with open(os.path.join(folder, "said"), "w+b") as said, open(os.path.join(folder, "told"), "w+b") as told:
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=said, stderr=told, env=environment
            )
        except OSError as error:
            raise ProgramError(f"the program gapless cannot be run: {error}") from error
        try:
            if feed:
                feed.into(process)
            _wait(process, task, feed, stopped)
        finally:
            process.kill()
            process.wait()
            if process.stdin:
                with contextlib.suppress(OSError):
                    process.stdin.close()
        said.seek(0)
        told.seek(0)
        return _answer(process.returncode, said.read(), told.read().decode(errors="replace"))


def _wait(process: subprocess.Popen[bytes], task: Task, feed: _Feed | None, stopped: threading.Event | None) -> None:
    while True:
        try:
            process.wait(TICK)
        except subprocess.TimeoutExpired:
            if stopped is not None and stopped.is_set():
                raise Stopped from None
            if feed and feed.silent_for() > task.timeout:
                raise Lost(f"stalled: no bytes came for {task.timeout:g} s, after {feed.read:,}") from None
            continue
        if feed and feed.is_alive():
            feed.join(TICK)
        if feed and feed.failure:
            raise Lost(feed.failure)
        return


def _answer(status: int, said: bytes, told: str) -> dict[str, Any]:
    if status == 0:
        document: dict[str, Any] = json.loads(said)
        return document
    try:
        error = json.loads(said)["error"]
        message = error["message"]
    except (ValueError, KeyError):
        error, message = {}, told.strip() or f"gapless summarize ended with {status}"
    if status == BAD_INPUT:
        raise Lost(message, error.get("hint", ""))
    if status == USAGE:
        raise ProgramError(f"the program gapless on this machine is another version: {message}")
    if status < 0:
        raise Died(f"gapless summarize was ended by signal {-status}")
    raise Died(message)


def _one_file(program: str, task: Task, document: dict[str, Any], folder: str) -> tuple[str, bytes]:
    """One summary as it is; those of a run folder or an archive in one archive."""
    paths = [summary["path"] for summary in document["summaries"]]
    stem = os.path.basename(paths[0]).removesuffix(".gapsum")
    if len(paths) == 1:
        file, ending = paths[0], ".gapsum"
    else:
        file, ending = os.path.join(folder, "out.tar"), ".tar"
        done = subprocess.run([program, "merge", os.path.join(folder, "out"), "-o", file], capture_output=True, check=False)  # fmt: skip
        if done.returncode != 0:
            raise Died(done.stderr.decode(errors="replace").strip() or "gapless merge failed")
        stem = f"{stem}-and-{len(paths) - 1}-more"
    # A summary of a part of a recording must be made again.
    stamp = task.stamp[: storage.LOCATION] + "0" * storage.VERSION if document["lost"] else task.stamp
    with open(file, "rb") as summary:
        return f"{stem}-{stamp}{ending}", summary.read()


def _rank(document: dict[str, Any]) -> int | None:
    summaries = document["summaries"]
    rank: int | None = summaries[0].get("rank") if len(summaries) == 1 else None
    return rank


def _put(task: Task, name: str, content: bytes) -> None:
    """Writes the file so that it appears when it is whole."""
    if not task.to:
        return
    if storage.is_url(task.to):
        try:
            store, folder = storage.file_system(task.to, task.storage_options)
            store.pipe_file(f"{folder}/{name}", content)
        except ProgramError:
            raise
        except Exception as error:
            raise Died(f"cannot write to {task.to}: {storage.reason_of(error)}") from None
        return
    partial = os.path.join(task.to, f".{task.token}-{secrets.token_hex(4)}.part")
    try:
        with open(partial, "wb") as file:
            file.write(content)
        os.replace(partial, os.path.join(task.to, name))
    except OSError as error:
        raise Died(f"cannot write to {task.to}: {error.strerror}") from None
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def _fetched(task: Task, folder: str) -> str:
    """Copies a run folder of a store: its files belong together."""
    store, root = storage.file_system(task.place, task.storage_options)
    for name, size in task.files:
        to = os.path.join(folder, "tree", name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        copied = _copied(store, f"{root}/{name}", to, task.timeout)
        if size is not None and copied < size:
            raise Lost(f"cut off: {copied:,} of {size:,} bytes of {name} came")
    return os.path.join(folder, "tree")


def _copied(store: Any, path: str, to: str, timeout: float) -> int:
    """Copies one file in a thread, which is left behind when nothing comes any more."""
    state: dict[str, Any] = {"bytes": 0, "at": time.monotonic(), "failure": ""}

    def copy() -> None:
        try:
            with storage.opened(store, path) as source, open(to, "wb") as file:
                while block := source.read(BLOCK):
                    file.write(block)
                    state["bytes"] += len(block)
                    state["at"] = time.monotonic()
        except Exception as error:
            state["failure"] = storage.reason_of(error)

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(TICK)
        if time.monotonic() - state["at"] > timeout:
            raise Lost(f"stalled: no bytes came for {timeout:g} s, after {state['bytes']:,}")
    if state["failure"]:
        raise Lost(state["failure"])
    return int(state["bytes"])
