#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has clang read every source that a build folder would compile and has not: warnings are errors, and no code is made.

usage: clang_warnings.py BUILD

BUILD is configured for clang and has what its sources include (generated files, precompiled headers). Sources whose objects are
there were compiled with the same warnings and are left out. So CI sees in a quarter of the time what a build by clang would say.
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


def complaint(entry: dict[str, Any]) -> str:
    """The words of clang about the source; "" if it has none."""
    done = subprocess.run(command_of(entry), cwd=entry["directory"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{entry['file']}\n{done.stderr}"


def main(build: Path) -> int:
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    left = [entry for entry in entries if is_left(entry)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(complaint, left) if text]
    print("\n".join(complaints), end="")
    print(
        f"clang read {len(left)} of {len(entries)} batches of sources, which have no object; errors in {len(complaints)}"
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1])))
