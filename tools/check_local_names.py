#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a name which is local to a source is the only one of its room, because CI compiles the sources of a room in batches
(cmake/Unity.cmake), and those of a batch share one unnamed namespace.

Neither may such a name be that of a type or constant in a header that the room includes: it would stand for both. Functions of one
name are let be when they take other parameters. Not looked at are sources that are compiled alone: the files of extension points
and what CMakeLists.txt names. Prints one line for each name and exits 1 when there is any.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from check_layers import read_layers

ROOT = Path(__file__).resolve().parent.parent
POINT = re.compile(r"gapless_registry\([^)]* DIR (\S+)")
ALONE = re.compile(r"gapless_compiled_alone\(([^)]*)\)")
OPENS = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{")
CLOSES = re.compile(r"\}\s*// namespace")
TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (\w+)(?= |$)(?:[^;]*$|.*\{)")
ENUMERATORS = re.compile(r"enum (?!class)[^{]*\{([^}]*)\}")
ALIAS = re.compile(r"using (\w+) =")
CONSTANT = re.compile(r"(?:inline )?(?:constexpr|constinit|const) [^(]*?\bk[A-Z]\w*(?: =|\[|\{|;)")
CONSTANTS = re.compile(r"\b(k[A-Z]\w*)(?= =|\[|\{)")
FUNCTION = re.compile(r"(?!using|return|TEST)[\w:<>,&*\[\] ]*[\w>&*] (\w+)\(")
OWN = ("gapless", "gapless::internal")

Name = tuple[str, str, str]  # the named namespaces around it, the name (of a function with what it takes), its kind


def parameters(text: str) -> str:
    """The types in a list of parameters, which begins behind its bracket."""
    depth, end = 1, 0
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    words = [re.sub(r" (?:\w+|/\*\w+\*/)(?: =.*)?$", "", " ".join(part.split())) for part in text[: end - 1].split(",")]
    return ", ".join(words)


def names(text: str, local: bool) -> Iterator[Name]:
    """What a file declares at the level of a namespace, where lines begin with it: what is local to it, or what is not."""
    inside: list[str] = []
    lines = re.sub(r"//.*", lambda note: note[0] if "namespace" in note[0] else "", text).splitlines()
    for number, line in enumerate(lines):
        opened = OPENS.match(line)
        if opened and "}" not in line:
            inside.append(opened[1])
        elif CLOSES.match(line) and inside:
            inside.pop()
        elif line[:1].isalpha() and (("" in inside) == local):
            around = "::".join(part for part in inside if part)
            if kind := TYPE.match(line) or ALIAS.match(line):
                yield around, kind[1], "type"
                if listed := ENUMERATORS.match("\n".join(lines[number : number + 20])):
                    yield from ((around, value, "constant") for value in re.findall(r"\bk[A-Z]\w*", listed[1]))
            elif CONSTANT.match(line):
                yield from ((around, constant, "constant") for constant in CONSTANTS.findall(line.split('"')[0]))
            elif called := FUNCTION.match(line):
                taken = parameters("\n".join([line[called.end() :], *lines[number + 1 : number + 8]]))
                yield around, f"{called[1]}({taken})", "function"


def batched_sources() -> Iterator[tuple[str, str, Path]]:
    """Room, what is made of them, and source."""
    lists = (ROOT / "CMakeLists.txt").read_text()
    points = {ROOT / "src" / folder for folder in POINT.findall(lists)}
    named = {ROOT / path for words in ALONE.findall(lists) for path in words.split()}
    for path in sorted((ROOT / "src").rglob("*.cc")):
        room = path.relative_to(ROOT / "src").parts[0]
        is_test = path.name.endswith("_test.cc")
        alone = path.name.endswith(("_bench.cc", "main.cc")) or path in named or (path.parent in points and not is_test)
        if room != "inject" and not alone:
            yield room, "tests" if is_test else "library", path


def names_of_headers() -> dict[str, dict[str, str]]:
    """Of each room, and "" for the public headers: where a type or constant is. Headers of tests are left out."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for folder in ("src", "include"):
        for path in sorted(path for path in (ROOT / folder).rglob("*.h") if "testing" not in path.parts):
            room = path.relative_to(ROOT / "src").parts[0] if folder == "src" else ""
            for around, name, kind in names(path.read_text(encoding="utf-8"), local=False):
                if around in OWN and kind != "function":
                    found[room][name] = str(path.relative_to(ROOT))
    return found


def clashes(found: list[tuple[str, str, str]]) -> Iterator[str]:
    """Sources that declare one name: only functions which take other parameters may. `found` has name, kind and source of each."""
    only_functions = all(kind == "function" for _, kind, _ in found)
    for name in sorted({name for name, _, _ in found} if only_functions else {found[0][0].split("(")[0]}):
        where = list(dict.fromkeys(source for own, _, source in found if own == name or not only_functions))
        if len(where) > 1:
            yield f"{name} is local to {' and to '.join(where)}"


def problems() -> Iterator[str]:
    rooms = read_layers((ROOT / "src/layers.txt").read_text())[0]
    headers = names_of_headers()
    places: dict[tuple[str, str, str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for room, made, path in batched_sources():
        shown = str(path.relative_to(ROOT))
        for around, name, kind in names(path.read_text(encoding="utf-8"), local=True):
            plain = name.split("(")[0]
            places[room, made, around, plain].append((name, kind, shown))
            header = next(
                (headers[below][plain] for below in ("", *sorted(rooms[room])) if plain in headers[below]), None
            )
            if header and around in OWN:
                yield f"{plain} is local to {shown} and defined in {header}"
    for found in places.values():
        yield from clashes(found)


def main() -> int:
    found = list(problems())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
