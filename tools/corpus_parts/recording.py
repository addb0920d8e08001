# SPDX-License-Identifier: Apache-2.0
"""The recording that a truth names: where it comes from, where it lies here, and whether a file is that recording.

A truth (tests/truth/<slug>.toml) begins with keys about its recording, one a line, before `truth` itself:

  origin         owner/name of the public repository; absent where the recording was made for the corpus alone
  commit         a commit of it that has the file
  path           the path in that commit
  stored         the path in that commit, where `path` is a name for a member of an archive or for an older version of a file
  member         the file in the archive `stored`
  sha256, bytes  of the file as it comes from there
  licence        of the repository at that commit, as SPDX writes it, where its licence file says a known one
  corpus         the path below $GAPLESS_CORPUS, where the recording is part of that
  corpus_sha256  of the file there, where it differs from the one in the repository (names of machines were blanked)
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TRUTHS = ROOT / "tests" / "truth"
CORPUS = Path(os.environ.get("GAPLESS_CORPUS", ROOT.parent / "shared" / "data"))
STRANGERS = Path(os.environ.get("GAPLESS_STRANGERS", ROOT.parent / "strangers"))

HERE, MISSING, ANOTHER = "here", "missing", "not the recording"
KEY = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|\d+)')
ORIGIN = re.compile(r"[A-Za-z0-9][\w-]*/[A-Za-z0-9_][\w.-]*")
COMMIT = re.compile(r"[0-9a-f]{7,40}")
SHA256 = re.compile(r"[0-9a-f]{64}")
CHUNK = 1 << 20


@dataclass(frozen=True)
class Recording:
    slug: str
    origin: str = ""
    commit: str = ""
    path: str = ""
    stored: str = ""
    member: str = ""
    sha256: str = ""
    bytes: int = 0  # 0: not known
    licence: str = ""
    corpus: str = ""
    corpus_sha256: str = ""

    @property
    def in_repository(self) -> str:
        """The path of the file to fetch."""
        return self.stored or self.path

    @property
    def name(self) -> str:
        """The file's name in $GAPLESS_STRANGERS: every truth has one of its own."""
        return (self.corpus or f"{self.origin}/{self.path}").replace("/", "__")

    def place(self, strangers: Path = STRANGERS, corpus: Path = CORPUS) -> Path:
        """The path at which the recording lies, or would lie."""
        if self.corpus and (not self.origin or (corpus / self.corpus).exists()):
            return corpus / self.corpus
        return strangers / self.name

    def state(self, place: Path) -> str:
        """HERE, MISSING or ANOTHER. A folder, and a recording without a checksum, are taken as they are."""
        if not place.exists():
            return MISSING
        if not self.sha256 or place.is_dir():
            return HERE
        return HERE if checksum(place) in (self.sha256, self.corpus_sha256) else ANOTHER


def checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def head(text: str) -> dict[str, str | int]:
    """The keys before `truth`. Python 3.9 reads no TOML, so this reads the plain lines that are there."""
    keys: dict[str, str | int] = {}
    for line in text.splitlines():
        if line.startswith("truth ="):
            break
        found = KEY.fullmatch(line)
        if not found:
            raise ValueError(f'not of the form key = "text": {line}')
        keys[found.group(1)] = json.loads(found.group(2))
    return keys


def plain(path: str) -> bool:
    """True for a path below a folder, whatever its names are made of."""
    return bool(path) and "\0" not in path and not any(part in ("", ".", "..") for part in path.split("/"))


def parse(slug: str, text: str) -> Recording:
    """Raises ValueError, which says what is wrong."""
    keys = head(text)
    known = {name: value for name, value in keys.items() if name in Recording.__dataclass_fields__}
    recording = Recording(slug=slug, **known)  # type: ignore[arg-type]  # the checks below say more than a type would
    checks = {
        "origin": not recording.origin or ORIGIN.fullmatch(recording.origin),
        "commit": not recording.origin or COMMIT.fullmatch(recording.commit),
        "path": not recording.origin or plain(recording.path),
        "stored": not recording.stored or plain(recording.stored),
        "member": not recording.member or (recording.stored and plain(recording.member)),
        "sha256": not recording.sha256 or SHA256.fullmatch(recording.sha256),
        "corpus_sha256": not recording.corpus_sha256 or SHA256.fullmatch(recording.corpus_sha256),
        "corpus": not recording.corpus or plain(recording.corpus),
    }
    wrong = [name for name, fine in checks.items() if not fine]
    if wrong or not (recording.origin or recording.corpus):
        raise ValueError(f"{slug}: {', '.join(wrong) or 'neither origin nor corpus'} is not as it should be")
    return recording


def read(folder: Path = TRUTHS) -> dict[str, Recording]:
    """The recordings of all truths, by slug."""
    return {path.stem: parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))}
