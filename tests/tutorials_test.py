#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what the tutorials say, in their order, and holds what is printed against what they show.

A tutorial is a page of docs/tutorials/. Its blocks of code are taken from top to bottom, in a new folder of its own beside which
there is nothing but samples/, examples/ and tests/ of the repository:

    ```python title="train.py"      a file with this name is written; any language but console
    ```console                      a session in bash, as in the other pages (page_commands.py)

In a page that runs a training, which a line `<!-- runs a training -->` says, times differ from run to run. There any number stands
for any number of the same kind, `…` within a line for any text, and a line of `…` for any lines; words must be the same. A page
that needs Transformers or Lightning says `<!-- runs a training with frameworks -->`.

usage: tutorials_test.py PROGRAM [--fast | --training | --frameworks] [PAGE...]

--fast takes the pages without a training alone, --training those that need PyTorch only, --frameworks those that need more. They are
skipped where agent_test.py finds no PyTorch, or where there is no build/torch-frameworks (GAPLESS_FRAMEWORKS).
Prints how long each page took.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import time
from pathlib import Path

from agent_test import find_python
from corpus import ROOT
from page_commands import ELISION, Command, commands, run, workplace

KINDS = {"<!-- runs a training -->": "training", "<!-- runs a training with frameworks -->": "frameworks"}
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


def kind_of(page: Path) -> str:
    with page.open(encoding="utf-8") as text:
        return KINDS.get(text.readline().strip(), "fast")


def python_for(kind: str) -> tuple[str, str]:
    """The Python that the pages of a kind run, or "" and the reason why there is none."""
    if kind == "frameworks":
        python = os.environ.get("GAPLESS_FRAMEWORKS") or str(ROOT / "build" / "torch-frameworks" / "bin" / "python")
        return (python, "") if Path(python).exists() else ("", f"no {python}: run tools/torch_env.sh frameworks")
    return find_python("newest") if kind == "training" else ("", "")


def check(page: Path, program: Path, python: str) -> list[str]:
    """A fault of a page."""
    text = page.read_text(encoding="utf-8")
    loose = kind_of(page) != "fast"
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
    kinds = {page: kind_of(page) for page in pages}
    wanted = [kind for kind in ("fast", *KINDS.values()) if f"--{kind}" in sys.argv]
    pages = [page for page in pages if not wanted or kinds[page] in wanted]
    pythons = {kind: python_for(kind) for kind in sorted({kinds[page] for page in pages})}
    wrong: list[str] = []
    for page in pages:
        python, problem = pythons[kinds[page]]
        if problem:
            continue
        began = time.monotonic()
        wrong += check(page, program, python)
        print(f"{page.name}: {time.monotonic() - began:.1f} s")
    problem = "; ".join(reason for _, reason in pythons.values() if reason)
    ran = sum(not pythons[kinds[page]][1] for page in pages)
    print("\n".join(wrong) if wrong else f"{ran} tutorials print what they show")
    if problem and not wrong:
        print("skipped:", problem)
        return 77
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
