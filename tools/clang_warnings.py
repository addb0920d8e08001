#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has clang read the sources that a build folder would compile and has not: warnings are errors, and no code is made.

usage: clang_warnings.py BUILD [OTHER]

BUILD is configured for clang and has what its sources include (generated files, precompiled headers). Sources whose objects are
there were compiled with the same warnings and are left out. So CI sees in a quarter of the time what a build by clang would say.
OTHER is a build folder in which another compiler made the same sources: of these clang then reads those that one of the last 30
commits changed, or a file that they include. The schedule compiles everything with clang.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMMITS = 30


def command_of(entry: dict[str, Any]) -> list[str]:
    """The command of a compilation database, without the object that it would write."""
    words = shlex.split(entry["command"])
    if Path(words[0]).name == "ccache":
        words = words[1:]
    kept = []
    skip = False
    for word in words:
        if skip or word in ("-c", "-o", "-MD", "-MF", "-MT"):
            skip = not skip and word in ("-o", "-MF", "-MT")
            continue
        kept.append(word)
    return [*kept, "-fsyntax-only"]


def is_left(entry: dict[str, Any]) -> bool:
    """Is it a source of C++ that is there, and not compiled yet? Generated ones are there once their target was built."""
    words = shlex.split(entry["command"])
    made = Path(entry["directory"], words[words.index("-o") + 1])
    return Path(entry["file"]).suffix in (".cc", ".cxx") and Path(entry["file"]).exists() and not made.exists()


def recently_changed() -> set[Path] | None:
    """The files that the last commits changed; None where the history is shorter, or not known."""
    words = ["git", "diff", "--name-only", f"HEAD~{COMMITS}", "HEAD"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return {ROOT / name for name in done.stdout.splitlines()} if done.returncode == 0 else None


def files_of_objects(listed: str, build: Path) -> dict[str, set[Path]]:
    """The files that each object was made of, as `ninja -t deps` lists them."""
    files: dict[str, set[Path]] = {}
    of: set[Path] = set()
    for line in listed.splitlines():
        if line.startswith(" "):
            of.add((build / line.strip()).resolve())
        elif ": #deps" in line:
            of = files.setdefault(line.split(": #deps")[0], set())
    return files


def is_touched(entry: dict[str, Any], files: dict[str, set[Path]], changed: set[Path]) -> bool:
    """Is one of its files among those that changed? True of a source that the other build did not make."""
    words = shlex.split(entry["command"])
    made_of = files.get(words[words.index("-o") + 1])
    return made_of is None or not made_of.isdisjoint(changed)


def complaint(entry: dict[str, Any]) -> str:
    """The words of clang about the source; "" if it has none."""
    done = subprocess.run(command_of(entry), cwd=entry["directory"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{entry['file']}\n{done.stderr}"


def main(build: Path, other: Path | None = None) -> int:
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    left = [entry for entry in entries if is_left(entry)]
    changed = recently_changed() if other else None
    if other and changed is not None:
        done = subprocess.run(["ninja", "-C", other, "-t", "deps"], capture_output=True, text=True, check=True)
        files = files_of_objects(done.stdout, other.resolve())
        left = [entry for entry in left if is_touched(entry, files, changed)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(complaint, left) if text]
    print("\n".join(complaints), end="")
    print(f"clang read {len(left)} of {len(entries)} batches of sources; errors in {len(complaints)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*map(Path, sys.argv[1:])))
