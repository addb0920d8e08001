# SPDX-License-Identifier: Apache-2.0
"""The command that the program starts for `gapless analyze s3://…`, `--on` and `--summaries`. It makes the summaries, and leaves a document that names
them and what is lost. Standard output stays the program's.

usage: python -m gapless.cluster --to FILE [--into FOLDER] [--on ENGINE] [--summaries PLACE] [--memory BYTES] -- RECORDING...
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
from typing import Any

from ..program import ProgramError
from .making import document_of, make

INTERRUPTED = 130


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m gapless.cluster", description=__doc__)
    parser.add_argument("--into", help="folder of this call, for summaries that lie on no disk of this machine")
    parser.add_argument("--to", required=True, help="file that gets the document")
    parser.add_argument("--on", choices=("processes", "ray"))
    parser.add_argument("--summaries")
    parser.add_argument("--memory", type=int)
    parser.add_argument("recordings", nargs="+")
    given = parser.parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        document = _made(given)
    except KeyboardInterrupt:
        shutil.rmtree(os.path.dirname(given.to), ignore_errors=True)
        return INTERRUPTED
    with open(given.to, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return int(document.get("error", {}).get("exit_status", 0))


def _made(given: argparse.Namespace) -> dict[str, Any]:
    try:
        done, paths = make(
            given.recordings, on=given.on, summaries=given.summaries, into=given.into, memory=given.memory, retries=3,
            timeout=None, storage_options={}, progress=None,
        )  # fmt: skip
    except ProgramError as error:
        message, _, rest = str(error).removeprefix("gapless: ").partition("\n")
        return {"error": {"message": message, "hint": rest.strip().removeprefix("hint: "), "exit_status": error.status}}
    if not done.summaries:
        first, reason = next(iter(done.lost.items()))
        return {"error": {"message": reason, "place": first, "hint": done.hints.get(first, ""), "exit_status": 3}}
    return document_of(done, paths or [one.path for one in done])


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main(sys.argv[1:]))
