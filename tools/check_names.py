#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no type is defined twice under one name of one namespace in src/ and include/.

Two such definitions are undefined behaviour as soon as both are linked into one program, and no compiler sees it. Prints one line for
each name and exits 1 when there is any. What has no name of its own (unnamed namespaces) is not looked at, nor are tests, which are
programs of their own.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENS = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{")
CLOSES = re.compile(r"\}\s*// namespace")
DEFINES = re.compile(r"(?:struct|class|enum class|enum) (?:GAPLESS_API )?(\w+(?:<.*>)?)(?![\w:])(?:[^;]*$|.*\{)")


def definitions(text: str) -> list[str]:
    """The full names of the types that a source defines at the level of a namespace, which is where a line begins with them."""
    found, inside = [], list[str]()
    for line in text.splitlines():
        opened = OPENS.match(line)
        defined = DEFINES.match(line)
        if opened and "}" not in line:
            inside.append(opened.group(1))
        elif CLOSES.match(line) and inside:
            inside.pop()
        elif defined and all(inside):
            found.append("::".join([*inside, defined.group(1)]))
    return found


def main() -> int:
    places = defaultdict(list)
    for folder in ("src", "include"):
        for path in sorted((ROOT / folder).rglob("*")):
            is_test = path.name.endswith(("_test.cc", "_bench.cc")) or "testing" in path.parts
            if path.suffix in (".h", ".cc") and not is_test:
                for name in definitions(path.read_text(encoding="utf-8")):
                    places[name].append(str(path.relative_to(ROOT)))
    twice = {name: where for name, where in places.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(where)}")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
