# SPDX-License-Identifier: Apache-2.0
"""The sources of recordings: GitHub over the network, or git directories on this machine.

Nothing of a repository is ever executed: over the network one file is read, and git is asked for objects alone, without a work
tree, hooks, filters or a way to reach another machine. What comes is data of strangers: its size is limited while it is read.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO, Callable, Protocol

from .recording import Recording

RAW = "https://raw.githubusercontent.com"
CHUNK = 1 << 16
SILENT_S = 20  # for which a server may say nothing
TRIES = 3
VERSIONS = 100  # of a file, of those that are looked at where the commit is not there
LFS = b"version https://git-lfs.github.com/spec/v1"


class Unavailable(Exception):
    """Why the recording cannot be had from this source."""


class Stopped(Exception):
    """Somebody asked to stop."""


@dataclass(frozen=True)
class Bounds:
    most_bytes: int
    stop: threading.Event


@dataclass(frozen=True)
class Opening:
    """One version of the file that may be the recording; `copy` writes it into a file."""

    commit: str
    copy: Callable[[BinaryIO, Bounds], None]


class Source(Protocol):
    def openings(self, recording: Recording) -> Iterator[Opening]:
        """The versions to try, best first. Raises Unavailable."""

    def licence(self, recording: Recording, commit: str) -> str:
        """As SPDX writes it; empty: not known."""


def pour(read: Callable[[int], bytes], into: BinaryIO, bounds: Bounds) -> int:
    total = 0
    while chunk := read(CHUNK):
        if bounds.stop.is_set():
            raise Stopped
        if total == 0 and chunk.startswith(LFS):
            raise Unavailable("the repository has a pointer of Git LFS in place of the file")
        total += len(chunk)
        if total > bounds.most_bytes:
            raise Unavailable(f"the file has more than {bounds.most_bytes} bytes")
        into.write(chunk)
    return total


class GitHub:
    """Single files over the network."""

    def __init__(self, url: str = RAW) -> None:
        if not url.startswith(("https://", "http://")):
            raise ValueError(f"{url}: neither https:// nor http://")
        self.url = url.rstrip("/")

    def openings(self, recording: Recording) -> Iterator[Opening]:
        path = urllib.parse.quote(recording.in_repository)
        url = f"{self.url}/{recording.origin}/{recording.commit}/{path}"
        yield Opening(recording.commit, lambda file, bounds: self.fetch(url, file, bounds))

    def licence(self, recording: Recording, commit: str) -> str:
        return ""

    def fetch(self, url: str, file: BinaryIO, bounds: Bounds) -> None:
        problem = ""
        for attempt in range(TRIES):
            if bounds.stop.wait(2.0 * attempt):
                raise Stopped
            file.seek(0)
            file.truncate()
            try:
                return self.fetch_once(url, file, bounds)
            except urllib.error.HTTPError as error:
                problem = f"HTTP {error.code} for {url}"
                if error.code not in (429, 500, 502, 503, 504):
                    break
            except (OSError, HTTPException) as error:
                problem = f"{error} for {url}"
        raise Unavailable(problem)

    def fetch_once(self, url: str, file: BinaryIO, bounds: Bounds) -> None:
        request = urllib.request.Request(url, headers={"User-Agent": "gapless-fetch-corpus"})
        with urllib.request.urlopen(request, timeout=SILENT_S) as answer:
            stated = answer.headers.get("Content-Length")
            total = pour(answer.read1, file, bounds)
        if stated is not None and int(stated) != total:
            raise ConnectionError(f"{total} bytes of {stated} came")


class GitDirectories:
    """Git directories below a folder: owner+name/repo, owner+name, owner__name or owner/name, bare or with a work tree."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ValueError(f"{folder}: no such folder")
        self.folder = folder

    def openings(self, recording: Recording) -> Iterator[Opening]:
        directory = self.directory(recording.origin)
        commit = git(directory, "rev-parse", "--verify", "--quiet", f"{recording.commit}^{{commit}}").decode().strip()
        if commit:
            yield self.opening(directory, commit, blob(directory, commit, recording.in_repository))
            return
        if not recording.sha256:
            raise Unavailable(
                f"{directory} does not have commit {recording.commit[:12]}, and no checksum tells another version"
            )
        seen = set()
        path = recording.in_repository
        log = git(directory, "log", "--all", "--format=%H", f"--max-count={VERSIONS}", "--", path)
        for other in log.decode().split():
            try:
                found = blob(directory, other, path)
            except Unavailable:  # the commit that removed the file
                continue
            if found not in seen:
                seen.add(found)
                yield self.opening(directory, other, found)
        if not seen:
            raise Unavailable(f"{directory} has neither commit {recording.commit[:12]} nor the file in another")

    def licence(self, recording: Recording, commit: str) -> str:
        directory = self.directory(recording.origin)
        for entry in git(directory, "ls-tree", "-z", "--full-tree", commit).split(b"\0"):
            about, _, name = entry.partition(b"\t")
            if re.match(rb"(?i)(licen[cs]e|copying)(\.(md|txt|rst))?$", name) and b" blob " in about:
                return spdx(git(directory, "cat-file", "blob", about.split()[2].decode()).decode(errors="replace"))
        return ""

    def directory(self, origin: str) -> Path:
        owner, name = origin.split("/")
        folders = [
            f"{owner}+{name}/repo",
            f"{owner}+{name}",
            f"{owner}__{name}",
            origin,
            f"{owner}+{name}.git",
            f"{origin}.git",
        ]
        for folder in folders:
            for directory in (self.folder / folder, self.folder / folder / ".git"):
                if (directory / "HEAD").is_file() and (directory / "objects").is_dir():
                    return directory
        raise Unavailable(f"no git directory {owner}+{name} in {self.folder}")

    @staticmethod
    def opening(directory: Path, commit: str, found: str) -> Opening:
        return Opening(commit, lambda file, bounds: copy_blob(directory, found, file, bounds))


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "",  # no transport: objects that a partial copy lacks are not looked for elsewhere
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }


def command(directory: Path, *words: str) -> list[str]:
    return ["git", f"--git-dir={directory}", "--no-pager", *words]


def git(directory: Path, *words: str) -> bytes:
    """The output of git, nothing when it fails."""
    done = subprocess.run(command(directory, *words), capture_output=True, check=False, env=environment())
    return done.stdout if done.returncode == 0 else b""


def blob(directory: Path, commit: str, path: str) -> str:
    """The object that is the file at the path of the commit."""
    entry = git(directory, "ls-tree", "-z", "--full-tree", commit, "--", path).partition(b"\t")[0].split()
    if not entry:
        raise Unavailable(f"commit {commit[:12]} of {directory} has no {path}")
    if entry[1] != b"blob" or entry[0] == b"120000":
        raise Unavailable(f"{path} in commit {commit[:12]} of {directory} is not a file")
    return entry[2].decode()


def copy_blob(directory: Path, found: str, file: BinaryIO, bounds: Bounds) -> None:
    size = git(directory, "cat-file", "-s", found)
    if not size:
        raise Unavailable(f"{directory} lists the file and does not have it (a partial copy lacks large files)")
    if int(size) > bounds.most_bytes:
        raise Unavailable(f"the file has {int(size)} bytes, more than {bounds.most_bytes}")
    words = command(directory, "cat-file", "blob", found)
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,  # out of reach of a Ctrl-C
    ) as child:
        assert child.stdout is not None
        try:
            total = pour(child.stdout.read, file, bounds)
        finally:
            child.kill()
    if bounds.stop.is_set():
        raise Stopped
    if total != int(size):
        raise Unavailable(f"git gave {total} bytes of {int(size)}")


def spdx(text: str) -> str:
    """The licence that a licence file's first lines name."""
    start = " ".join(text[:4000].split())
    clauses = "BSD-3-Clause" if "Neither the name" in start else "BSD-2-Clause"
    known = {
        "Apache License": "Apache-2.0",
        "GNU AFFERO GENERAL PUBLIC LICENSE": "AGPL-3.0",
        "GNU LESSER GENERAL PUBLIC LICENSE": "LGPL-3.0" if "Version 3" in start else "LGPL-2.1",
        "GNU GENERAL PUBLIC LICENSE": "GPL-3.0" if "Version 3" in start else "GPL-2.0",
        "Mozilla Public License": "MPL-2.0",
        "Permission is hereby granted, free of charge": "MIT",
        "Redistribution and use in source and binary forms": clauses,
        "This is free and unencumbered software": "Unlicense",
        "CC0 1.0": "CC0-1.0",
    }
    return next((name for words, name in known.items() if words in start), "")
