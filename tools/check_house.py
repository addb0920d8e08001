#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the house rules that no other tool knows. Prints one line for each breach and exits 1 when there is any.

Every source starts with its licence; no text names a folder of somebody's machine; no test is left unfinished; expressions meet
texts through src/base/pattern.h, as std::regex takes stack for each character; what a file of an extension point adds has the
name of the file; every member of a verb's struct is an option or a word of it; sources stay short: above 400 lines is a warning,
which does not fail, and above 500 is a breach.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCES = {".cc", ".h", ".py", ".sh"}
TEXTS = SOURCES | {".md", ".txt", ".cmake", ".json", ".yml", ".test", ""}
LOCAL = re.compile(r"(?<![\w./$}])/(?:home|root|work|Users|mnt|tmp/bash)/\w")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
REGEX = re.compile(r"#include <regex>|\bstd::(?:s|c)?regex")
ENTRY = re.compile(r'^[A-Z_]+\((\w+)\) = \{[^{}]*?\.(?:name|id) = "([^"]+)"', re.MULTILINE)
WANTED, LONGEST = 400, 500  # lines of a source
ARGUMENTS = re.compile(r"^struct (\w+(?:Arguments|Options))(?: : ([^{]*))? \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"^  (?!static|using|friend|virtual)\w[\w:<>]* (\w+(?:, \w+)*);")


def files() -> list[pathlib.Path]:
    """The files of the project: what git tracks, and what it would track."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    names = [n for n in listed.stdout.split("\0") if n]
    return sorted(ROOT / n for n in names if (ROOT / n).is_file() and pathlib.Path(n).suffix in TEXTS)


def breaches(path: pathlib.Path) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    recorded = name.startswith(("tests/data/", "samples/")) and path.suffix != ".md"
    if recorded:
        return
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return
    if path.suffix in SOURCES and not any(LICENCE in line for line in lines[:3]):
        yield f'{name}:1: no "{LICENCE}"'
    for entry in ENTRY.finditer("\n".join(lines)) if name.startswith("src/") else ():
        if {entry[1], entry[2].replace("-", "_")} != {path.stem}:
            yield f"{name}: its entry is {entry[1]} and is called {entry[2]}: both must be the name of the file"
    for number, line in enumerate(lines, 1):
        if path == pathlib.Path(__file__).resolve():
            break
        if LOCAL.search(line) and not name.endswith(("_test.cc", ".test")):
            yield f"{name}:{number}: names a local path: {line.strip()[:80]}"
        if REGEX.search(line) and path.suffix in {".cc", ".h"}:
            yield f"{name}:{number}: std::regex; src/base/pattern.h does not fall over long lines: {line.strip()[:80]}"
        if UNFINISHED.search(line) and path.suffix in SOURCES:
            yield f"{name}:{number}: unfinished: {line.strip()[:80]}"


def unread_members() -> Iterator[str]:
    """Members of a verb's struct that neither an option nor a word fills: the command line cannot reach them.

    The compiler sees a misspelt member, not a forgotten one: these structs have a base with a destructor, whose members it does
    not count. A struct's member may be bound through one that derives from it.
    """
    sources = [path for path in (ROOT / "src/cli").rglob("*.[ch]*") if not path.stem.endswith("_test")]
    texts = {path: path.read_text() for path in sources}
    structs = [(path, found) for path, text in texts.items() for found in ARGUMENTS.finditer(text)]
    bases = {found[1]: set(re.findall(r"\w+", found[2] or "")) for _, found in structs}
    bound = set(re.findall(r"&(\w+)::(\w+)\b", "\n".join(texts.values())))

    def descends(name: str, base: str) -> bool:
        return name == base or any(descends(parent, base) for parent in bases.get(name, ()))

    for path, found in structs:
        name, own = found[1], found[3].split("static constexpr")[0]
        for line in own.splitlines() if name != "Arguments" else ():
            members = MEMBER.match(re.sub(r"\{[^}]*\}| = [^;,]*", "", line))
            for member in members[1].split(", ") if members else ():
                if not any(descends(owner, name) for owner, bound_name in bound if bound_name == member):
                    yield f"{path.relative_to(ROOT)}: no option fills {name}::{member}"


def main() -> int:
    found: list[str] = list(unread_members())
    long: list[str] = []
    for path in files():
        found += breaches(path)
        name, count = (
            path.relative_to(ROOT).as_posix(),
            len(path.read_text().splitlines()) if path.suffix in SOURCES else 0,
        )
        if count > LONGEST:
            found.append(f"{name}: {count} lines; no source has more than {LONGEST}: it is two things")
        elif count > WANTED:
            long.append(f"{name} ({count})")
    print("\n".join(found), end="\n" if found else "")
    if long:
        print(f"warning: longer than {WANTED} lines: {', '.join(long)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
