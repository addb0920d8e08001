# SPDX-License-Identifier: Apache-2.0
"""Brings one recording: copied beside its place, held to its checksum, and only then given its name."""

from __future__ import annotations

import os
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .recording import Recording, checksum
from .sources import Bounds, Source, Unavailable, pour


@contextmanager
def partial(folder: Path) -> Iterator[Path]:
    """A file that is gone afterwards, whatever happens, unless it was renamed."""
    handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".part")
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def bring(recording: Recording, source: Source, folder: Path, most_bytes: int, stop: threading.Event) -> str:
    """Puts the recording into the folder; the commit that it is from. Raises Unavailable, Stopped or OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    bounds = Bounds(most_bytes, stop)
    exact = Bounds(min(most_bytes, recording.bytes or most_bytes), stop)
    problem = "no version of the file was found"
    for opening in source.openings(recording):
        with partial(folder) as part:
            try:
                with part.open("wb") as file:
                    opening.copy(file, bounds if recording.member else exact)
                if recording.member:
                    unpack(part, recording.member, exact)
            except Unavailable as error:
                problem = str(error)
                continue
            got = checksum(part)
            if recording.sha256 in ("", got):
                part.chmod(0o644)
                part.replace(folder / recording.name)
                return opening.commit
            problem = f"refused: its checksum is {got}, not {recording.sha256}"
    raise Unavailable(problem)


def unpack(archive: Path, member: str, bounds: Bounds) -> None:
    """Replaces the archive by its member."""
    with partial(archive.parent) as part:
        with part.open("wb") as file:
            extract(archive, member, file, bounds)
        part.replace(archive)


def extract(archive: Path, member: str, file: BinaryIO, bounds: Bounds) -> None:
    try:
        with tarfile.open(archive) as files:
            found = files.extractfile(member) if files.getmember(member).isfile() else None
            if found is None:
                raise Unavailable(f"{member} in the archive is not a file")
            pour(found.read, file, bounds)
    except KeyError:
        raise Unavailable(f"the archive has no {member}") from None
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise Unavailable(f"the archive cannot be read: {error}") from None
