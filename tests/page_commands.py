#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the pages of docs/ show, and holds what they print against what the page says they print.

A fenced block of the language `console` is a session in bash:

    $ gapless analyze samples/x.json.gz | head -2      a command; lines that begin with "> " continue it
    x.json.gz                                           what it prints, errors too
    …                                                   any number of lines, none as well
    $ gapless formats                                   the next one

Commands of a page run one after the other in one new folder, beside which there is nothing but samples/, tests/ and docs/ of
the repository, with `gapless` being the program under test. A command must end with status 0; show another one with
`; echo "exit $?"`. Blocks of other languages (sh, python, text) are not run. The tutorials are tests/tutorials_test.py's.

usage: page_commands.py PROGRAM [PAGE...]
"""

from __future__ import annotations

import contextlib
import difflib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from corpus import ROOT
from corpus import pages as generated
from run_goldens import environment

ELISION = "…"
BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass
class Command:
    line: int  # of the page
    text: str
    output: list[str] = field(default_factory=list)


def commands(page: str) -> Iterator[Command]:
    """The commands of all console blocks of a page."""
    for block in BLOCK.finditer(page):
        first = page.count("\n", 0, block.start()) + 2
        current: Command | None = None
        for number, raw in enumerate(block[2].splitlines(), first):
            line = raw[len(block[1]) :]
            if line.startswith("$ "):
                if current:
                    yield current
                current = Command(number, line[2:])
            elif current is None:
                sys.exit(f"line {number} of the page: a console block begins with '$ '")
            elif line.startswith("> ") and not current.output:
                current.text += "\n" + line[2:]
            else:
                current.output.append(line)
        if current:
            yield current


def matches(shown: list[str], printed: list[str]) -> bool:
    """Is it the same, with each line that is an elision standing for any lines?"""
    if not shown:
        return not printed
    if shown[0] == ELISION:
        return any(matches(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and matches(shown[1:], printed[1:])


def run(command: Command, folder: Path, variables: dict[str, str], limit_s: float = 120) -> list[str]:
    """The lines a command prints, and a line with its exit status when that is not 0."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{{ {command.text}\n}} 2>&1"],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=limit_s,
        check=False,
    )
    lines = [line.rstrip() for line in done.stdout.decode("utf-8", "backslashreplace").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines + ([f"exit status {done.returncode}"] if done.returncode else [])


@contextlib.contextmanager
def workplace(program: Path, folders: tuple[str, ...]) -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty folder with links to some folders of the repository, and the variables of a person who begins there."""
    with tempfile.TemporaryDirectory() as home:
        work = Path(home) / "work"
        work.mkdir()
        for name in folders:
            (work / name).symlink_to(ROOT / name)
        yield work, environment(program, Path(home))


def check(page: Path, program: Path) -> tuple[int, list[str]]:
    """Returns how many commands the page has, and what is wrong with them."""
    wrong: list[str] = []
    count = 0
    with workplace(program, ("samples", "tests", "docs")) as (work, variables):
        for command in commands(page.read_text(encoding="utf-8")):
            count += 1
            printed = run(command, work, variables)
            if not matches(command.output, printed):
                wrong.append(f"{page}:{command.line}: {command.text}")
                wrong += difflib.unified_diff(command.output, printed, "on the page", "printed", lineterm="")
    return count, wrong


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = Path(sys.argv[1]).resolve()
    pages = [Path(word) for word in sys.argv[2:]] or sorted(
        [
            *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "tutorials"),
            *generated(program).rglob("*.md"),
        ]
    )
    results = [check(page, program) for page in pages]
    wrong = [line for _, lines in results for line in lines]
    count = sum(commands_of for commands_of, _ in results)
    print("\n".join(wrong) if wrong else f"{count} commands of {len(pages)} pages print what the pages say")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
