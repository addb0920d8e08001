# SPDX-License-Identifier: Apache-2.0
"""The program `gapless`, called for its JSON."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, Union

NOT_THERE = 4  # the exit status of a command whose environment lacks something
FAILED = 5  # the exit status where a command that was run for a measurement failed
BAD_INPUT = 3
OWN_FAILURE = 125  # the exit status of `gapless profile` where the command was not to blame
NO_PROGRAM = (
    "cannot find the program gapless on the PATH or beside this Python: install it, or set GAPLESS_PROGRAM to its path"
)
SHELL_SYNTAX = re.compile(r"[|&;<>$`()\n]|^\s*[A-Za-z_]\w*=")

Command = Union[str, Sequence[str]]


class ProgramError(RuntimeError):
    """The program is not there, or refused; the text says why. `status` is what it ended with."""

    def __init__(self, text: str, status: int = NOT_THERE) -> None:
        super().__init__(text)
        self.status = status


def find_program() -> str | None:
    """The program that GAPLESS_PROGRAM names, that of the PATH, or what was installed with this package: environments are used without
    being activated, too."""
    return os.environ.get("GAPLESS_PROGRAM") or shutil.which("gapless") or shutil.which("gapless", path=_scripts())


def _scripts() -> str:
    """The folders where pip puts programs of this Python, and of this user."""
    return os.pathsep.join([sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user")])


def say(*words: str, accept: Sequence[int] = (0,)) -> str:
    """Returns the output of `gapless WORDS`. `accept` lists the exit statuses that are answers, such as 1 for "no"."""
    return finish(*words, accept=accept)[1]


def finish(*words: str, accept: Sequence[int] = (0,)) -> tuple[int, str]:
    """Returns the exit status of `gapless WORDS`, one of `accept`, and its output. Raises ProgramError with the reason for others."""
    program = find_program()
    if program is None:
        raise ProgramError(NO_PROGRAM)
    try:
        done = subprocess.run([program, *words], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ProgramError(f"the program gapless cannot be run: {error}") from error
    if done.returncode not in accept:
        text = (done.stderr or done.stdout).strip() or f"gapless ended with {done.returncode}"
        raise ProgramError(text, done.returncode)
    return done.returncode, done.stdout


def ask(*words: str, accept: Sequence[int] = (0,)) -> Any:
    """Returns the parsed output of `gapless WORDS --json`. A command for it comes after `--`, as always."""
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


def command_words(command: Command) -> list[str]:
    """Returns a command as a list of words. A text is split as a shell does; a text with shell syntax is given to `sh -c`.

    >>> command_words("python train.py --name 'a b'"), command_words("cd src && python train.py")
    (['python', 'train.py', '--name', 'a b'], ['sh', '-c', 'cd src && python train.py'])
    """
    if not isinstance(command, str):
        words = [os.fspath(word) for word in command]
    elif SHELL_SYNTAX.search(command):
        words = ["sh", "-c", command]
    else:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"cannot read the command {command!r}: {error}") from None
    if not words:
        raise ValueError("cannot run an empty command: pass it as a text or a list of words")
    return words


def run_command(options: list[str], command: Command, folder: str) -> list[str]:
    """Runs `gapless profile OPTIONS -o FOLDER -- COMMAND`; the command's output goes where it always goes.

    A folder with an earlier recording is renamed first (FOLDER-1, …). Returns the sentences about tools that were missing. Raises ProgramError if the command fails, whatever was recorded of it.
    """
    program = find_program()
    if program is None:
        raise ProgramError(NO_PROGRAM)
    words = command_words(command)
    _keep_earlier(folder)
    done = subprocess.run([program, "profile", *options, "-o", folder, "--", *words], check=False)
    if done.returncode == OWN_FAILURE:
        raise ProgramError(f"cannot record into {folder}: the lines of gapless above say why", BAD_INPUT)
    if done.returncode:
        raise ProgramError(
            f"cannot profile {shlex.join(words)}: it ended with {done.returncode}; run it alone first", FAILED
        )
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        missing: list[str] = json.load(file).get("missing", [])
    return missing


def _keep_earlier(folder: str) -> None:
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            is_run = json.load(file).get("format") == "gapless.run"
    except (OSError, ValueError, AttributeError):
        return
    if is_run:
        place = os.path.normpath(folder)
        free = next(name for name in (f"{place}-{number}" for number in itertools.count(1)) if not os.path.exists(name))
        os.rename(place, free)
        print(f"gapless: the earlier recording in {place} is now in {free}", file=sys.stderr)
