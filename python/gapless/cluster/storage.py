# SPDX-License-Identifier: Apache-2.0
"""Places of recordings and summaries: folders of this machine, and object stores by URL through fsspec.

Credentials are those that the packages of fsspec find by themselves, in the environment and its files, or `storage_options`; neither is
ever printed or written.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

from ..integrations.extras import MissingPackage, need
from ..program import BAD_INPUT, NOT_THERE, ProgramError, ask, say

LOCATION, VERSION = 10, 6  # digits of a stamp for where a recording lies, and for what it is
STAMPED = re.compile(rf"^(?P<stem>.+)-(?P<stamp>[0-9a-f]{{{LOCATION + VERSION}}})\.(?:gapsum|tar)$")
URL = re.compile(r"^[a-z][a-z0-9+.\-]*(?:://|::)")
RANKED = re.compile(r"^(\d+)=(.+)$", re.DOTALL)
MAGIC = re.compile(r"[*?\[]")
SIGNED = re.compile(r"(?i)(signature|token|sig|credential|key)=")
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.zst")
SUMMARY = ".gapsum"
MARKS = ("ETag", "etag", "md5Hash", "content_md5", "version_id", "generation", "mtime", "LastModified", "last_modified", "updated",
         "modified", "created")  # fmt: skip
USAGE = 2
EXTRAS = {"s3": ("s3fs", "s3"), "s3a": ("s3fs", "s3"), "gs": ("gcsfs", "gcs"), "gcs": ("gcsfs", "gcs"), "az": ("adlfs", "azure"),
          "abfs": ("adlfs", "azure"), "abfss": ("adlfs", "azure")}  # fmt: skip
BLOCK = 8 << 20  # bytes of a request to a store

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Found:
    """A recording, and what its summary depends on."""

    name: str
    place: str
    kind: str
    size: int | None
    mark: str
    rank: int | None = None
    files: tuple[tuple[str, int | None], ...] = ()

    @property
    def is_summary(self) -> bool:
        return self.place.endswith(SUMMARY)

    def stamp(self, version: str) -> str:
        """16 digits: a second call with the same recording and program finds its summary by them."""
        where = _digest(self.place if is_url(self.place) else os.path.abspath(self.place))
        what = _digest(json.dumps([self.size, self.mark, self.rank, version]))
        return where[:LOCATION] + what[:VERSION]


def is_url(text: str) -> bool:
    return bool(URL.match(text)) and not os.path.exists(text)


def file_system(url: str, options: dict[str, Any]) -> tuple[Any, str]:
    """The file system of a URL, and the path in it. Raises MissingPackage with the line of pip where its package is not installed."""
    scheme = re.split(r"::|://", url, maxsplit=1)[0]
    core = need("fsspec.core", EXTRAS.get(scheme, ("", "cluster"))[1])
    try:
        store, path = core.url_to_fs(url, **options)
    except ImportError:
        package, extra = EXTRAS.get(scheme, ("", ""))
        if extra:
            raise MissingPackage(f'this needs {package}: pip install "gapless[{extra}]"', NOT_THERE) from None
        raise MissingPackage(f"fsspec needs another package for {scheme}://: its documentation names it") from None
    except ValueError as error:
        raise ProgramError(f"cannot read {shown(url)}: {error}", USAGE) from None
    return store, str(path).rstrip("/")


def opened(store: Any, path: str) -> Any:
    """The object, to be read from front to back: nothing is kept of what was read."""
    return store.open(path, "rb", block_size=BLOCK, cache_type="readahead")


def shown(url: str) -> str:
    """A URL without what gives access: a user's name with a password, a signature.

    >>> shown("https://me:secret@host/a.json?X-Signature=1"), shown("s3://runs/a@b.json")
    ('https://host/a.json', 's3://runs/a@b.json')
    """
    if not is_url(url):
        return url
    url = re.sub(r"(://)[^/@]*@", r"\1", url)
    path, mark, query = url.partition("?")
    return path if mark and SIGNED.search(query) else url


def reason_of(error: BaseException) -> str:
    """One line about a failure of a store."""
    if isinstance(error, FileNotFoundError):
        return "there is no such object"
    if isinstance(error, PermissionError):
        return f"no access: {error}".splitlines()[0]
    text = str(error).strip().splitlines()
    return f"cannot be read: {text[0] if text else type(error).__name__}"


def without_secrets(text: str, options: dict[str, Any]) -> str:
    for value in options.values():
        if isinstance(value, dict):
            text = without_secrets(text, value)
        elif isinstance(value, str) and len(value) > 3:
            text = text.replace(value, "…")
    return text


def find(recordings: Path | Iterable[Path], options: dict[str, Any], leave_out: str = "") -> list[Found]:
    """The recordings that the paths lead to, in their order. Nothing below `leave_out`, where summaries are, is one."""
    given = [recordings] if isinstance(recordings, (str, os.PathLike)) else list(recordings)
    found: dict[str, Found] = {}
    for path in [os.fspath(one) for one in given]:
        ranked = RANKED.match(path) if not os.path.exists(path) else None
        rank, place = (int(ranked[1]), ranked[2]) if ranked else (None, path)
        for one in _at_url(place, rank, options) if is_url(place) else _here(place, rank):
            if not _is_below(one.place, leave_out):
                found.setdefault(one.place, one)
    if not found:
        raise ProgramError("no recording was found: " + ", ".join(shown(os.fspath(path)) for path in given), BAD_INPUT)
    return list(found.values())


def _is_below(place: str, folder: str) -> bool:
    if not folder or is_url(place) != is_url(folder):
        return False
    if not is_url(place):
        place, folder = os.path.abspath(place), os.path.abspath(folder)
    return place.startswith(folder.rstrip("/") + "/")


def _here(path: str, rank: int | None) -> list[Found]:
    """Returns the recordings that the program finds on this machine."""
    paths = sorted(glob.glob(path, recursive=True)) if MAGIC.search(path) and not os.path.exists(path) else [path]
    if not paths:
        raise ProgramError(f"nothing is called {path}", BAD_INPUT)
    prefix = "" if rank is None else f"{rank}="
    listed = say("summarize", *(prefix + one for one in paths), "--units", "-o", "unused").split("\0")[:-1]
    found = []
    for unit in listed:
        ranked = RANKED.match(unit) if not os.path.exists(unit) else None
        found.append(_local(ranked[2] if ranked else unit, int(ranked[1]) if ranked else rank))
    return found


def _local(path: str, rank: int | None) -> Found:
    if os.path.isdir(path):
        stats = [
            (os.path.join(at, name), os.stat(os.path.join(at, name)))
            for at, _, names in os.walk(path)
            for name in names
        ]
        marks = sorted((os.path.relpath(file, path), stat.st_size, stat.st_mtime_ns) for file, stat in stats)
        return Found(
            path, os.path.abspath(path), "file", sum(stat.st_size for _, stat in stats), _digest(str(marks)), rank
        )
    try:
        stat = os.stat(path)
    except OSError:
        return Found(path, os.path.abspath(path), "file", None, "", rank)  # the task says what is wrong
    return Found(path, os.path.abspath(path), "file", stat.st_size, str(stat.st_mtime_ns), rank)


def _at_url(url: str, rank: int | None, options: dict[str, Any]) -> list[Found]:
    store, path = file_system(url, options)
    try:
        if MAGIC.search(path):
            entries = list(store.glob(path, detail=True).values())
        else:
            entries = [store.info(path)]
    except FileNotFoundError:
        return [Found(shown(url), url, "stream", None, "", rank)]  # the task says what is wrong
    except Exception as error:
        raise ProgramError(f"cannot look into {shown(url)}: {without_secrets(reason_of(error), options)}") from None
    found: list[Found] = []
    for entry in sorted(entries, key=lambda one: str(one["name"])):
        if entry["type"] == "directory":
            found += _in_folder(store, str(entry["name"]), rank)
        else:
            found.append(_object(store, entry, rank))
    return found


def _in_folder(store: Any, folder: str, rank: int | None) -> list[Found]:
    """As in a folder of this machine: its own files; where none is a recording, those of all folders below."""
    endings = _endings()
    own = [one for one in store.ls(folder, detail=True) if one["type"] != "directory"]
    files = own if any(_is_recording(one, endings) for one in own) else list(store.find(folder, detail=True).values())
    names = {str(one["name"]) for one in files}
    runs = sorted(name.removesuffix("/manifest.json") for name in names
                  if name.endswith("/manifest.json") and name.removesuffix("manifest.json") + "control" in names)  # fmt: skip
    if runs and files is own:
        files = list(store.find(folder, detail=True).values())
    found = [_tree(store, run, files, rank) for run in runs]
    inside = tuple(run + "/" for run in runs)
    wanted = [
        one for one in files if _is_recording(one, endings) and not str(one["name"]).startswith(inside or ("\0",))
    ]
    return found + [_object(store, one, rank) for one in sorted(wanted, key=lambda one: str(one["name"]))]


def _endings() -> tuple[str, ...]:
    formats = ask("formats")["formats"]
    return (*{ending for one in formats for ending in one["extensions"]}, *ARCHIVES, SUMMARY)


def _is_recording(entry: dict[str, Any], endings: tuple[str, ...]) -> bool:
    name = str(entry["name"])
    hidden = name.rpartition("/")[2].startswith(".")
    return name.endswith(endings) and not name.endswith((".jsonl", ".jsonl.gz")) and not hidden


def _object(store: Any, entry: dict[str, Any], rank: int | None) -> Found:
    url = _url(store, str(entry["name"]))
    size = entry.get("size")
    return Found(shown(url), url, "stream", None if size is None else int(size), _mark(entry), rank)


def _tree(store: Any, root: str, files: Sequence[dict[str, Any]], rank: int | None) -> Found:
    inside = sorted((one for one in files if str(one["name"]).startswith(root + "/")), key=lambda one: str(one["name"]))
    names = tuple((str(one["name"])[len(root) + 1 :], one.get("size")) for one in inside)
    url = _url(store, root)
    marks = _digest(json.dumps([[name, size, _mark(one)] for (name, size), one in zip(names, inside)]))
    return Found(shown(url), url, "tree", sum(size or 0 for _, size in names), marks, rank, names)


def _url(store: Any, path: str) -> str:
    url = str(store.unstrip_protocol(path))
    return url.replace("memory:///", "memory://", 1)  # as people write it


def _mark(entry: dict[str, Any]) -> str:
    return next((str(entry[mark]) for mark in MARKS if entry.get(mark)), "")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
