#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what the tutorials say, in their order, and holds what is printed against what they show.

A tutorial is a page of docs/tutorials/. Its blocks of code are taken from top to bottom, in a new folder of its own beside which
there is nothing but samples/, examples/ and tests/ of the repository:

    ```python title="train.py"      a file with this name is written; any language but console
    ```console                      a session in bash, as in the other pages (page_commands.py)

In a page that runs a training, which a line `<!-- runs a training -->` says, times differ from run to run. There any number stands
for any number of the same kind, `…` within a line for any text, and a line of `…` for any lines; words must be the same.

usage: tutorials_test.py PROGRAM [--fast | --training] [PAGE...]

--fast takes the pages without a training alone, --training the others; they are skipped where agent_test.py finds no PyTorch.
Prints how long each page took.
"""

from __future__ import annotations

import difflib
import re
import sys
import time
from pathlib import Path

from agent_test import find_python
from corpus import ROOT
from page_commands import ELISION, Command, commands, run, workplace

TRAINING = "<!-- runs a training -->"
FILE = re.compile(r'^```[a-z]+ title="([^"/]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")
PER_SECOND = re.compile(r"# (?:ns|[µm]?s|[kMG]?B)\b")  # units change with the number
LIMIT_S = 900  # of one command
BAR = re.compile(r"[█▒░]+")


def loosely(line: str) -> str:
    """A line in which every number is the same, and so is each run of blanks: columns move with the numbers."""
    return re.sub(r" +", " ", PER_SECOND.sub("# time", BAR.sub("bar", NUMBER.sub("#", line)))).rstrip()


def alike(shown: str, printed: str, loose: bool) -> bool:
    if shown == printed or not loose:
        return shown == printed
    parts = [re.escape(loosely(f" {part} ").strip()) for part in shown.split(ELISION)]
    return re.fullmatch(r".*".join(parts), loosely(printed).strip()) is not None


def matches(shown: list[str], printed: list[str], loose: bool) -> bool:
    """Is it the same, with each line that is an elision standing for any lines?"""
    if not shown:
        return not printed
    if shown[0] == ELISION:
        return any(matches(shown[1:], printed[start:], loose) for start in range(len(printed) + 1))
    return bool(printed) and alike(shown[0], printed[0], loose) and matches(shown[1:], printed[1:], loose)


def steps(text: str) -> list[tuple[int, str, str] | Command]:
    """Files to write, as (line, name, content), and commands, in the order of the page."""
    files: list[tuple[int, str, str] | Command] = [
        (text.count("\n", 0, block.start()), block[1], block[2]) for block in FILE.finditer(text)
    ]
    return sorted([*files, *commands(text)], key=lambda step: step.line if isinstance(step, Command) else step[0])


def check(page: Path, program: Path, python: str) -> list[str]:
    """A fault of a page."""
    text = page.read_text(encoding="utf-8")
    loose = TRAINING in text
    with workplace(program, ("samples", "examples", "tests")) as (work, variables):
        if python:
            variables["PATH"] = f"{Path(python).parent}:{variables['PATH']}"
        for step in steps(text):
            if not isinstance(step, Command):
                (work / step[1]).write_text(step[2], encoding="utf-8")
                continue
            printed = run(step, work, variables, LIMIT_S)
            if not matches(step.output, printed, loose):
                lines = difflib.unified_diff(step.output, printed, "on the page", "printed", lineterm="")
                return [f"{page}:{step.line}: {step.text}", *lines]
    return []


def main() -> int:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if not words:
        sys.exit(__doc__)
    program = Path(words[0]).resolve()
    pages = [Path(word) for word in words[1:]] or sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    trains = {page: TRAINING in page.read_text(encoding="utf-8") for page in pages}
    if "--fast" in sys.argv or "--training" in sys.argv:
        pages = [page for page in pages if trains[page] == ("--training" in sys.argv)]
    python, problem = find_python("newest") if any(trains[page] for page in pages) else ("", "")
    wrong: list[str] = []
    for page in pages:
        if trains[page] and not python:
            continue
        began = time.monotonic()
        wrong += check(page, program, python)
        print(f"{page.name}: {time.monotonic() - began:.1f} s")
    print("\n".join(wrong) if wrong else f"{len(pages)} tutorials print what they show")
    if problem and not wrong:
        print("skipped:", problem)
        return 77
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
