#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include of src/ against src/layers.txt: which room may include which, and which header has which door.
The public headers of include/gapless/ are open to all rooms, and include only the standard library and each other. The folder of a
command is open to that command alone.

A door is the only place where sources may reach a heavy header, directly or through other headers, because each one that
does costs seconds to compile. Prints one line for each breach and exits 1 when there is any.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent / "src"
PUBLIC = ROOT.parent / "include"
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')

Rooms = dict[str, set[str]]  # rooms each may include
Generated = dict[str, str]  # the room of each header that CMake writes
Doors = list[tuple[str, tuple[str, ...], Optional[int]]]  # header prefix, path prefixes, most sources or None
Includes = dict[str, list[tuple[int, str, str]]]  # of each file: line number, quote, header


def read_layers(text: str) -> tuple[Rooms, Generated, Doors]:
    rooms: Rooms = {}
    generated: Generated = {}
    doors: Doors = []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("door "):
            words = line.split()[1:]
            most = int(words.pop()) if words[-1].isdigit() else None
            doors.append((words[0], tuple(words[1:]), most))
        elif line.startswith("generated "):
            _, header, room = line.split()
            generated[header] = room
        elif line:
            room, below = line.split(":")
            rooms[room] = {room, *below.split()}
    return rooms, generated, doors


def read_includes(root: pathlib.Path) -> Includes:
    """Returns the includes of every source and header below root."""
    found: Includes = {}
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".h", ".cc")):
        lines = enumerate(path.read_text().splitlines(), 1)
        matches = ((n, INCLUDE.match(line)) for n, line in lines)
        found[path.relative_to(root).as_posix()] = [(n, m[1], m[2]) for n, m in matches if m]
    return found


def way_to(prefix: str, file: str, includes: Includes, seen: set[str]) -> list[str] | None:
    """The includes that lead from file to a header beginning with prefix, or None."""
    for _, quote, header in includes.get(file, ()):
        if quote == "<" and header.startswith(prefix):
            return [f"<{header}>"]
        if quote == '"' and header not in seen:
            seen.add(header)
            rest = way_to(prefix, header, includes, seen)
            if rest:
                return [header, *rest]
    return None


def direction_breaches(rooms: Rooms, generated: Generated, includes: Includes) -> Iterator[str]:
    for file, lines in includes.items():
        room = file.split("/")[0]
        if room not in rooms:
            yield f"src/{file}: room {room} is not in src/layers.txt"
            continue
        for number, quote, header in lines:
            if (PUBLIC / header).is_file():
                continue
            known = header in includes or header in generated
            if quote == '"' and (not known or generated.get(header, header.split("/")[0]) not in rooms[room]):
                yield f'src/{file}:{number}: {room} may not include "{header}"'


def command_breaches(includes: Includes) -> Iterator[str]:
    """A command's folder is its own: what two commands need lies in src/cli/, what they print in src/report/."""
    folder = re.compile(r"cli/commands/([a-z_]+?)(?:_test)?(?:\.cc|\.h|/)")
    for file, lines in includes.items():
        own = folder.match(file)
        for number, _, header in lines:
            other = folder.match(header)
            if other and (own is None or own[1] != other[1]):
                yield f'src/{file}:{number}: the folder of another command: "{header}"'


def public_breaches(includes: Includes) -> Iterator[str]:
    for file, lines in includes.items():
        for number, quote, header in lines:
            ours = header.startswith("gapless/") and header in includes
            if not (ours if quote == '"' else re.fullmatch(r"[a-z_0-9]+(\.h)?", header)):
                yield f"include/{file}:{number}: a public header may not include {header}"


def door_breaches(doors: Doors, includes: Includes) -> Iterator[str]:
    for prefix, places, most in doors:
        inside = []
        for file in (f for f in includes if f.endswith(".cc")):
            way = way_to(prefix, file, includes, set())
            if way and file.startswith(places):
                inside.append(file)
            elif way:
                yield f"src/{file} reaches {' > '.join(way)}, which only {', '.join(places)} may"
        if most is not None and len(inside) > most:
            yield f"<{prefix}…> is reached by {len(inside)} sources, {most} may: {', '.join(inside)}"


if __name__ == "__main__":
    all_rooms, all_generated, all_doors = read_layers((ROOT / "layers.txt").read_text())
    all_includes = read_includes(ROOT)
    breaches = [
        *direction_breaches(all_rooms, all_generated, all_includes),
        *command_breaches(all_includes),
        *public_breaches(read_includes(PUBLIC)),
        *door_breaches(all_doors, all_includes),
    ]
    print("\n".join(breaches), end="\n" if breaches else "")
    sys.exit(1 if breaches else 0)
