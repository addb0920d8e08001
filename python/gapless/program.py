# SPDX-License-Identifier: Apache-2.0
"""The program `gapless`, called for its JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any


class ProgramError(RuntimeError):
    """The program is not there, or refused; the text says why."""


def find_program() -> str | None:
    return os.environ.get("GAPLESS_PROGRAM") or shutil.which("gapless")


def ask(*words: str) -> Any:
    """What `gapless WORDS --json` prints, as Python has it."""
    program = find_program()
    if program is None:
        raise ProgramError("the program gapless is not on the PATH; GAPLESS_PROGRAM names it")
    done = subprocess.run([program, *words, "--json"], check=False, capture_output=True, text=True)
    if done.returncode:
        raise ProgramError((done.stderr or done.stdout).strip() or f"gapless ended with {done.returncode}")
    return json.loads(done.stdout)


def run_command(options: list[str], command: list[str], folder: str) -> list[str]:
    """Runs `gapless profile OPTIONS -o FOLDER -- COMMAND`; the command's output goes where it always goes.

    Gives the sentences about what was missing. A command that fails is an error, whatever was recorded of it.
    """
    program = find_program()
    if program is None:
        raise ProgramError("the program gapless is not on the PATH; GAPLESS_PROGRAM names it")
    done = subprocess.run([program, "profile", *options, "-o", folder, "--", *command], check=False)
    if done.returncode:
        raise ProgramError(f"the command, or gapless, ended with {done.returncode}")
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        missing: list[str] = json.load(file).get("missing", [])
    return missing
