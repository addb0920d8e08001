# SPDX-License-Identifier: Apache-2.0
"""The program `gapless`, called for its JSON."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

NOT_THERE = 4  # the exit status of a command whose environment lacks something


class ProgramError(RuntimeError):
    """The program is not there, or refused; the text says why. `status` is what it ended with."""

    def __init__(self, text: str, status: int = NOT_THERE) -> None:
        super().__init__(text)
        self.status = status


def find_program() -> str | None:
    return os.environ.get("GAPLESS_PROGRAM") or shutil.which("gapless")


def say(*words: str, accept: Sequence[int] = (0,)) -> str:
    """What `gapless WORDS` prints. `accept` are the exit statuses that are answers: 1 is one where a no is an answer."""
    program = find_program()
    if program is None:
        raise ProgramError("the program gapless is not on the PATH: set GAPLESS_PROGRAM to its path")
    try:
        done = subprocess.run([program, *words], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ProgramError(f"the program gapless cannot be run: {error}") from error
    if done.returncode not in accept:
        text = (done.stderr or done.stdout).strip() or f"gapless ended with {done.returncode}"
        raise ProgramError(text, done.returncode)
    return done.stdout


def ask(*words: str, accept: Sequence[int] = (0,)) -> Any:
    """What `gapless WORDS --json` prints, as Python has it. A command for it comes after `--`, as always."""
    at = words.index("--") if "--" in words else len(words)
    return json.loads(say(*words[:at], "--json", *words[at:], accept=accept))


@contextlib.contextmanager
def as_file(document: Any) -> Iterator[str]:
    """A file with the document as JSON, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="gapless-") as folder:
        path = os.path.join(folder, "document.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, allow_nan=False, default=str)
        yield path


def run_command(options: list[str], command: list[str], folder: str) -> list[str]:
    """Runs `gapless profile OPTIONS -o FOLDER -- COMMAND`; the command's output goes where it always goes.

    Gives the sentences about what was missing. A command that fails is an error, whatever was recorded of it.
    """
    program = find_program()
    if program is None:
        raise ProgramError("the program gapless is not on the PATH: set GAPLESS_PROGRAM to its path")
    done = subprocess.run([program, "profile", *options, "-o", folder, "--", *command], check=False)
    if done.returncode:
        raise ProgramError(f"the command, or gapless, ended with {done.returncode}")
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        missing: list[str] = json.load(file).get("missing", [])
    return missing
