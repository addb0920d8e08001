# SPDX-License-Identifier: Apache-2.0
"""Where the recordings are, and which of them hold events."""
import gzip
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("GAPLESS_CORPUS", ROOT.parent / "shared" / "data"))


def require():
    """Ends the script as skipped when there are no recordings here."""
    if not (FOLDER / "oracle" / "kineto").is_dir():
        print(f"skipped: no recordings in {FOLDER} (set GAPLESS_CORPUS)")
        sys.exit(77)


def counts():
    """(path of the recording, "archive!/member" for one in an archive; its count) for every recording with a count."""
    oracle = FOLDER / "oracle" / "kineto"
    for path in sorted([*oracle.rglob("*.count.json"), *oracle.rglob("*.count.json.gz")]):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            count = json.load(file)
        if "file" in count:
            yield str(FOLDER / count["file"]), count


def hta(path):
    """HolisticTraceAnalysis 0.6.1's answers about the recording at `path` (as counts() gives it), those without rounding where
    there are any; None: none recorded."""
    stem = FOLDER / "oracle" / "kineto" / Path(path).relative_to(FOLDER / "kineto")
    for ending in (".hta-0.6.1-norounding.json", ".hta-0.6.1.json"):
        answers = stem.with_name(stem.name + ending)
        if answers.exists():
            return json.loads(answers.read_text(encoding="utf-8"))
    return None
