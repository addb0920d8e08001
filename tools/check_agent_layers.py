#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the imports of the agent inside training processes: against python/gapless/agent/layers.txt, and that none leads in a circle.

Every import counts: at the top of a module, inside a function, and under `if TYPE_CHECKING`. Not seen are the modules that are looked up by
their names, those of `fixes/` and `hooks/`: a module that imports one of these is told, for the folders are open at that end only.

Prints one line for each import that goes up, for each circle, and for each module that stands in no layer; exits 1 when there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "python" / "gapless" / "agent"
PACKAGE = "gapless_agent"
LOOKED_UP = ("fixes.", "hooks.")

Layers = list[tuple[str, list[str]]]
Imports = dict[str, list[str]]  # of each module: the modules of the package that it imports


def read_layers(text: str) -> Layers:
    """The name and the patterns of each layer, the lowest first."""
    layers: Layers = []
    for line in text.splitlines():
        line = line.split("#")[0]
        if ":" in line:
            name, line = line.split(":")
            layers.append((name.strip(), []))
        if line.strip():
            layers[-1][1].extend(line.split())
    return layers


def layer_of(module: str, layers: Layers) -> int | None:
    """The first layer with a pattern of the module; a whole name comes before a pattern with a star."""
    for exact in (True, False):
        for index, (_, patterns) in enumerate(layers):
            if any(pattern == module if exact else fnmatchcase(module, pattern) for pattern in patterns):
                return index
    return None


def read_imports(package: Path) -> Imports:
    """The name of a folder stands for its `__init__.py`; the package itself is left out."""
    paths: dict[str, Path] = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if path.name == "__init__.py" else parts)
        if name:
            paths[name] = path
    return {name: imports_of(name, paths) for name in sorted(paths)}


def imports_of(module: str, paths: dict[str, Path]) -> list[str]:
    found: set[str] = set()
    above = module.split(".") if paths[module].name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(paths[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            whole = (node.module or "").split(".")
            if node.level:
                base = [*above[: len(above) - (node.level - 1)], *filter(None, whole)]
            elif whole[0] == PACKAGE:
                base = whole[1:]
            else:
                continue
            found.update(existing(".".join([*base, alias.name]), paths) for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(existing(alias.name.partition(PACKAGE + ".")[2], paths) for alias in node.names)
    return sorted(found - {"", module})


def existing(name: str, paths: dict[str, Path]) -> str:
    """The module of that name, or the one that the name is of; "" for the package itself and for others."""
    outer = name.rpartition(".")[0]
    return name if name in paths else outer if outer in paths else ""


def circles(imports: Imports) -> list[list[str]]:
    """The modules that reach each other, circle by circle."""
    reach = {module: reached_from(module, imports) for module in imports}
    found: list[list[str]] = []
    for module in imports:
        if module in reach[module] and not any(module in circle for circle in found):
            found.append([other for other in sorted(reach[module]) if module in reach[other]])
    return found


def reached_from(module: str, imports: Imports) -> set[str]:
    seen: set[str] = set()
    ahead = list(imports[module])
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead += imports.get(one, [])
    return seen


def problems(layers: Layers, imports: Imports) -> Iterator[str]:
    for module, imported in imports.items():
        own = layer_of(module, layers)
        if own is None:
            yield f"{module} stands in no layer"
            continue
        for one in imported:
            other = layer_of(one, layers)
            if other is not None and other > own:
                yield f"{module} ({layers[own][0]}) imports {one} ({layers[other][0]})"
            if one.startswith(LOOKED_UP) and module.partition(".")[0] != one.partition(".")[0]:
                yield f"{module} imports {one}, which is looked up by its name"
    for circle in circles(imports):
        yield f"a circle of imports: {' '.join(circle)}"


def main() -> int:
    layers = read_layers((FOLDER / "layers.txt").read_text(encoding="utf-8"))
    found = list(problems(layers, read_imports(FOLDER / PACKAGE)))
    print(
        "\n".join(found)
        if found
        else "each module of the agent imports its own layer and those below, and none in a circle"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
