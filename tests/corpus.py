# SPDX-License-Identifier: Apache-2.0
"""Where the recordings are, and which of them hold events."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("GAPLESS_CORPUS", ROOT.parent / "shared" / "data"))


def require() -> None:
    """Ends the script as skipped when there are no recordings here."""
    if not (FOLDER / "oracle" / "kineto").is_dir():
        print(f"skipped: no recordings in {FOLDER} (set GAPLESS_CORPUS)")
        sys.exit(77)


def counts() -> Iterator[tuple[str, dict[str, Any]]]:
    """(path of the recording, "archive!/member" for one in an archive; its count) for every recording with a count."""
    oracle = FOLDER / "oracle" / "kineto"
    for path in sorted([*oracle.rglob("*.count.json"), *oracle.rglob("*.count.json.gz")]):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            count = json.load(file)
        if "file" in count:
            yield str(FOLDER / count["file"]), count


def hta(path: str) -> dict[str, Any] | None:
    """HolisticTraceAnalysis 0.6.1's answers about the recording at `path` (as counts() gives it), unrounded where there
    are such; None: none recorded."""
    stem = FOLDER / "oracle" / "kineto" / Path(path).relative_to(FOLDER / "kineto")
    for ending in (".hta-0.6.1-norounding.json", ".hta-0.6.1.json"):
        answers = stem.with_name(stem.name + ending)
        if answers.exists():
            found: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
            return found
    return None
