#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the goldens: one file is one command with what it must print.

    # What this shows.
    $ gapless query --tables slice
    --- stdout
    slice: Host side: ...
    --- stderr
    --- exit 0

The command runs in bash, in the root of the repository, with `gapless` being the program under test and $TMP an empty folder.
Left-out parts are empty, and exit 0. Versions are written VERSION, the empty folder TMP.

usage: run_goldens.py PROGRAM [--update | --some] [FILE...]
--update writes what the program printed into the files: look at the difference before you keep it. --some runs the first four of each
command: with sanitizers every process takes many times as long, and what each prints is the same as without.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from corpus import ROOT

SOME = 4  # of each command

HEADER = re.compile(r"^--- (stdout|stderr|exit(?: (\d+))?)$")


@dataclass
class Printed:
    stdout: str
    stderr: str
    exit: int


def parse(path: Path) -> tuple[list[str], str, Printed]:
    """The comment and command lines, the command, and what it must print."""
    head: list[str] = []
    streams = {"stdout": "", "stderr": ""}
    status = 0
    current: str | None = None
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        found = HEADER.match(line.rstrip("\n"))
        if found and found.group(1).startswith("exit"):
            status, current = int(found.group(2) or 0), None
        elif found:
            current = found.group(1)
        elif current:
            streams[current] += line
        else:
            head.append(line)
    commands = [line[2:].rstrip("\n") for line in head if line.startswith("$ ")]
    if not commands:
        sys.exit(f"{path}: no line starts with '$ '")
    return head, "\n".join(commands), Printed(**streams, exit=status)


def environment(program: Path, folder: Path) -> dict[str, str]:
    """Returns what a command in a test sees: `gapless` is the program, nothing of the person who runs the test. Writes to `folder`."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "gapless").symlink_to(program)
    variables = {
        "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE", "GCOV_PREFIX"):
        if name in os.environ:
            variables[name] = os.environ[name]
    return variables


def run(program: Path, command: str) -> Printed:
    """Returns what the command printed, normalised."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env={**environment(program, Path(folder)), "TMP": str(work)},
            capture_output=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            check=False,
        )

        def tidy(data: bytes) -> str:
            text = data.decode("utf-8", "backslashreplace").replace(str(work), "TMP")
            text = re.sub(r"\bgapless \d+\.\d+\.\d+", "gapless VERSION", text)
            return re.sub(r'"version": "\d+\.\d+\.\d+"', '"version": "VERSION"', text)

        return Printed(tidy(done.stdout), tidy(done.stderr), done.returncode)


def written(head: list[str], parts: Printed) -> str:
    text = "".join(head) + "--- stdout\n" + parts.stdout
    if parts.stderr:
        text += "--- stderr\n" + parts.stderr
    return text + (f"--- exit {parts.exit}\n" if parts.exit else "")


def first_of_each_command(files: list[Path]) -> list[Path]:
    of_command: dict[str, list[Path]] = {}
    for path in files:
        of_command.setdefault(path.stem.split("_")[0], []).append(path)
    return [path for paths in of_command.values() for path in paths[:SOME]]


def main() -> int:
    arguments = [word for word in sys.argv[1:] if word not in ("--update", "--some")]
    if not arguments:
        sys.exit(__doc__)
    program = Path(arguments[0]).resolve()
    files = [Path(word) for word in arguments[1:]] or sorted((ROOT / "tests" / "golden").glob("*.test"))
    if "--some" in sys.argv:
        files = first_of_each_command(files)
    failed = 0
    for path in files:
        head, command, expected = parse(path)
        actual = run(program, command)
        if actual == expected:
            continue
        if "--update" in sys.argv:
            path.write_text(written(head, actual), encoding="utf-8")
            print(f"updated {path.name}")
            continue
        failed += 1
        print(f"FAILED {path.name}: {command}")
        wanted, printed = (written(head, parts).splitlines(keepends=True) for parts in (expected, actual))
        sys.stdout.writelines(difflib.unified_diff(wanted, printed, "expected", "printed"))
    print(f"{len(files) - failed} of {len(files)} goldens as expected")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
