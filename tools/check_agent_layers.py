#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the imports of the agent inside training processes against python/gapless/agent/layers.txt.

Prints one line for each import that goes up, and for each module that stands in no layer or in several; exits 1 when there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "python" / "gapless" / "agent"
PACKAGE = FOLDER / "gapless_agent"


def read_layers(text: str) -> list[tuple[str, list[str]]]:
    """The name and the patterns of each layer, the lowest first."""
    layers: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        line = line.split("#")[0]
        if ":" in line:
            name, line = line.split(":")
            layers.append((name.strip(), []))
        if line.strip():
            layers[-1][1].extend(line.split())
    return layers


def layer_of(module: str, layers: list[tuple[str, list[str]]]) -> int | None:
    """The first layer with a pattern of the module; a whole name comes before a pattern with a star."""
    for exact in (True, False):
        for index, (_, patterns) in enumerate(layers):
            if any(pattern == module if exact else fnmatchcase(module, pattern) for pattern in patterns):
                return index
    return None


def imports(tree: ast.AST, module: str) -> Iterator[str]:
    """Yields the modules of the package that are imported, without those under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*module.split(".")[: -node.level], *(node.module or "").split(".")]
            for name in node.names:
                yield from existing([*filter(None, base)], name.name)
        yield from imports(node, module)


def existing(base: list[str], name: str) -> Iterator[str]:
    for parts in ([*base, name], base):
        if parts and PACKAGE.joinpath(*parts).with_suffix(".py").exists():
            yield ".".join(parts)
            return


def problems(layers: list[tuple[str, list[str]]]) -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if path.name == "__init__.py":
            continue
        own = layer_of(module, layers)
        if own is None:
            yield f"{module} stands in no layer"
            continue
        for imported in sorted(set(imports(ast.parse(path.read_text(encoding="utf-8")), module))):
            other = layer_of(imported, layers)
            if other is not None and other > own:
                yield f"{module} ({layers[own][0]}) imports {imported} ({layers[other][0]})"


def main() -> int:
    found = list(problems(read_layers((FOLDER / "layers.txt").read_text(encoding="utf-8"))))
    print("\n".join(found) if found else "each module of the agent imports its own layer and those below")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
