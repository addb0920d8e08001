# SPDX-License-Identifier: Apache-2.0
"""Makes the summaries of recordings that are not there yet, and says which are: what `analyze` and `summarize` of gapless.cluster, and the
program through `python -m gapless.cluster`, have in common."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Callable

from .. import progress as shown_progress
from ..program import ProgramError, say
from . import storage
from .drive import drive
from .engines import On, cores, engine_for
from .storage import Found, Path
from .task import HEAD, Outcome, Task, digest_of, is_whole

TIMEOUT_S = 60.0
TIMEOUT_VARIABLE = "GAPLESS_STALL_TIMEOUT"  # seconds

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Summary:
    """A summary that is there now. `made` is False where it was there before; then what the task would say is not known."""

    path: str  # file or URL
    recording: str
    rank: int | None
    digest: str
    bytes: int
    made: bool = True
    bytes_read: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Summarized:
    """The summaries in the order of their recordings, and why others have none."""

    summaries: tuple[Summary, ...]
    lost: dict[str, str] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict, repr=False)  # what to do about some of the lost
    folder: str = ""

    @property
    def made(self) -> int:
        """The number of tasks that were run for the summaries."""
        return sum(summary.made for summary in self.summaries)

    def __len__(self) -> int:
        return len(self.summaries)

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.summaries)


def make(
    recordings: Path | Iterable[Path],
    *,
    on: On,
    summaries: Path | None,
    into: str | None,
    memory: int | None,
    retries: int,
    timeout: float | None,
    storage_options: dict[str, Any],
    progress: Progress | None,
) -> tuple[Summarized, list[str]]:
    """Makes what is missing. With `into`, a folder of this machine, the second result are files there or in `summaries`, one for each
    summary, that the program can read."""
    to = "" if summaries is None else os.fspath(summaries)
    found = storage.find(recordings, storage_options, leave_out=to)
    version = say("--version").strip()
    stamps = [one.stamp(version) for one in found]
    there = _there(to, set(stamps), storage_options) if to else {}
    made: dict[int, Summary] = {
        index: Summary(
            there[stamp][0], one.name, _rank_in(there[stamp][0]), there[stamp][2], there[stamp][1], made=False
        )
        for index, (one, stamp) in enumerate(zip(found, stamps))
        if stamp in there
    }
    made.update({index: _given(one) for index, one in enumerate(found) if one.is_summary})
    missing = [index for index in range(len(found)) if index not in made]
    token = secrets.token_hex(6)
    patience = timeout if timeout is not None else float(os.environ.get(TIMEOUT_VARIABLE, TIMEOUT_S))
    threads = max(1, cores() // max(1, len(missing)))
    tasks = [
        _task(found[index], stamps[index], to, memory, threads, patience, token, storage_options) for index in missing
    ]
    lost: dict[int, Outcome] = {}
    parts: dict[int, Outcome] = {}

    def take(at: int, outcome: Outcome) -> None:
        index = missing[at]
        if outcome.kind == "done":
            made[index] = _kept(found[index], outcome, to, into)
            if outcome.parts_lost:
                parts[index] = outcome
        else:
            lost[index] = outcome

    with _own_folder(to, token, bool(tasks)):
        _work(tasks, on, memory, retries, take, progress, len(found))
        _sweep(to, stamps, made, storage_options)
    reasons, hints = _lost(found, lost, parts)
    done = Summarized(tuple(made[index] for index in sorted(made)), reasons, hints, to)
    return done, here([summary.path for summary in done], into, storage_options) if into else []


def document_of(done: Summarized, paths: list[str]) -> dict[str, Any]:
    """Returns the document of `gapless summarize`, which the program reads."""
    rows: list[dict[str, Any]] = [
        {"path": path, "recording": one.recording, "bytes": one.bytes} for path, one in zip(paths, done)
    ]
    for row, one in zip(rows, done):
        if one.rank is not None:
            row["rank"] = one.rank
    return {
        "folder": done.folder,
        "summaries": rows,
        "lost": [
            {"path": path, "reason": reason, "hint": done.hints.get(path, "")} for path, reason in done.lost.items()
        ],
    }


def _task(
    one: Found,
    stamp: str,
    to: str,
    memory: int | None,
    threads: int,
    timeout: float,
    token: str,
    options: dict[str, Any],
) -> Task:
    there = to if storage.is_url(to) or not to else os.path.abspath(to)
    remote = one.kind != "file" or storage.is_url(there)
    return Task(
        one.name, one.place, stamp, one.kind, one.size, one.files, one.rank, there, memory, threads, timeout, token,
        options if remote else {},
    )  # fmt: skip


def _work(
    tasks: list[Task], on: On, memory: int | None, retries: int, take: Callable[[int, Outcome], None],
    progress: Progress | None, total: int,
) -> None:  # fmt: skip
    done = total - len(tasks)
    if progress:
        progress(done, total)
    if not tasks:
        return

    def settle(at: int, outcome: Outcome) -> None:
        nonlocal done
        take(at, outcome)
        done += 1
        if progress:
            progress(done, total)
        else:
            shown_progress.say(f"summarizing: {done:,} of {total:,} recordings")

    with shown_progress.shown() if progress is None else contextlib.nullcontext():
        engine = engine_for(on, memory, retries)
        try:
            drive(tasks, engine, retries, settle)
        finally:
            engine.close()


@contextlib.contextmanager
def _own_folder(to: str, token: str, will_write: bool) -> Iterator[None]:
    """The folder of summaries. Workers that were killed may have left files that are not whole: they go."""
    local = bool(to) and not storage.is_url(to)
    if local and will_write:
        os.makedirs(to, exist_ok=True)
    try:
        yield
    finally:
        if local and os.path.isdir(to):
            for name in os.listdir(to):
                if name.startswith(f".{token}-"):
                    with contextlib.suppress(OSError):
                        os.unlink(os.path.join(to, name))


def _there(to: str, stamps: set[str], options: dict[str, Any]) -> dict[str, tuple[str, int, str]]:
    """The summaries that are there and whole, by stamp: path, bytes, digest."""
    names = {path: size for path, size in _files_in(to, options) if _stamp_of(path) in stamps}
    found = {}
    for path, head in _heads(list(names), options):
        if is_whole(head, names[path]):
            digest = digest_of(head) if path.endswith(storage.SUMMARY) else digest_of(_content(path, options))
            found[_stamp_of(path)] = (path, names[path], digest)
    return found


def _files_in(to: str, options: dict[str, Any]) -> list[tuple[str, int]]:
    if not storage.is_url(to):
        if not os.path.isdir(to):
            return []
        with os.scandir(to) as entries:
            return [(entry.path, entry.stat().st_size) for entry in entries if entry.is_file()]
    store, folder = storage.file_system(to, options)
    try:
        store.invalidate_cache()
        entries = store.ls(folder, detail=True)
    except FileNotFoundError:
        return []
    return [(to.rstrip("/") + "/" + str(one["name"]).rpartition("/")[2], int(one["size"] or 0)) for one in entries]


def _stamp_of(path: str) -> str:
    stamped = storage.STAMPED.match(path.rpartition("/")[2])
    return stamped["stamp"] if stamped else ""


def _heads(paths: list[str], options: dict[str, Any]) -> list[tuple[str, bytes]]:
    if not paths or not storage.is_url(paths[0]):
        return [(path, _head(path)) for path in paths]
    store, _ = storage.file_system(paths[0], options)
    within = [storage.file_system(path, options)[1] for path in paths]
    read = store.cat_ranges(within, [0] * len(paths), [HEAD.size] * len(paths), on_error="return")
    return [(path, head if isinstance(head, bytes) else b"") for path, head in zip(paths, read)]


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(HEAD.size)


def _content(path: str, options: dict[str, Any]) -> bytes:
    if not storage.is_url(path):
        return FilePath(path).read_bytes()
    store, within = storage.file_system(path, options)
    content: bytes = store.cat_file(within)
    return content


def _sweep(to: str, stamps: list[str], made: dict[int, Summary], options: dict[str, Any]) -> None:
    """Removes summaries of what these recordings were before: the folder would hold a rank twice."""
    fresh = {summary.path.rpartition("/")[2] for summary in made.values() if summary.made}
    places = {stamps[index][: storage.LOCATION] for index, summary in made.items() if summary.made}
    if not to or not fresh:
        return
    for path, _ in _files_in(to, options):
        name = path.rpartition("/")[2]
        if _stamp_of(path)[: storage.LOCATION] in places and name not in fresh:
            if storage.is_url(path):
                store, within = storage.file_system(path, options)
                store.rm_file(within)
            else:
                os.unlink(path)


def _kept(one: Found, outcome: Outcome, to: str, into: str | None) -> Summary:
    if outcome.content is not None and into:
        path = os.path.join(into, outcome.file)
        FilePath(path).write_bytes(outcome.content)
    else:
        path = to.rstrip("/") + "/" + outcome.file if storage.is_url(to) else os.path.join(to, outcome.file)
        if not storage.is_url(to) and not os.path.exists(path):
            raise ProgramError(
                f"a worker wrote to {to}, which is another folder here: name one that all machines see, or a URL"
            )
    return Summary(path, one.name, outcome.rank, outcome.digest, outcome.size, True, outcome.read, outcome.seconds)


def _given(one: Found) -> Summary:
    """A summary that was given as a recording."""
    return Summary(one.place if one.kind == "stream" else one.name, one.name, None, "", one.size or 0, made=False)


def _rank_in(path: str) -> int | None:
    stamped = storage.STAMPED.match(path.rpartition("/")[2])
    digits = stamped["stem"].removeprefix("rank-") if stamped else ""
    return int(digits) if digits.isdigit() and path.endswith(storage.SUMMARY) else None


def _lost(
    found: list[Found], lost: dict[int, Outcome], parts: dict[int, Outcome]
) -> tuple[dict[str, str], dict[str, str]]:
    """Reasons and hints, in the order of the recordings."""
    rows: list[tuple[str, str, str]] = []
    for index, one in enumerate(found):
        if index in lost:
            rows.append((one.name, lost[index].reason, lost[index].hint))
        elif index in parts:
            rows += parts[index].parts_lost
    return {path: reason for path, reason, _ in rows}, {path: hint for path, _, hint in rows if hint}


def here(paths: list[str], folder: str, options: dict[str, Any]) -> list[str]:
    """The files on this machine: copies of those that are elsewhere."""
    elsewhere = [path for path in paths if storage.is_url(path)]
    if not elsewhere:
        return paths
    store, _ = storage.file_system(elsewhere[0], options)
    copies = {
        path: os.path.join(folder, f"{number:06}-{path.rpartition('/')[2]}") for number, path in enumerate(elsewhere)
    }
    store.get([storage.file_system(path, options)[1] for path in elsewhere], list(copies.values()))
    return [copies.get(path, path) for path in paths]
