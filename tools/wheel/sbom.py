#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what is linked into the program and the library of a wheel, each part with its version and licence, as a CycloneDX document:
sbom.py <python with ziglang> <name of the wheel's platform>

Programs that look for parts in a finished file see none of these: they are linked in, and stripped. Packages of Python and of the system
are not needed by a wheel, so none is listed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMPILES_ONLY = re.compile(r"node_modules/(@esbuild/|esbuild$)")
GCC_EXCEPTION = "GPL-3.0-or-later WITH GCC-exception-3.1"
LLVM_EXCEPTION = "Apache-2.0 WITH LLVM-exception"


def said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def component(name: str, version: str, licence: str, address: str) -> dict[str, Any]:
    licences = [{"expression": licence}] if " " in licence else [{"license": {"id": licence}}]
    known = {"version": version} if version else {}
    return {"type": "library", "bom-ref": address, "name": name, **known, "purl": address, "licenses": licences}


def of_distribution(name: str, package: str, licence: str) -> dict[str, Any]:
    """A part whose source is the distribution's. `libboost-dev` itself is empty: another package has the headers of its version."""
    if name == "boost":
        package = said("dpkg", "-S", "/usr/include/boost/version.hpp").split(":")[0]
    release = said("sh", "-c", ". /etc/os-release && echo $ID")
    form = "${source:Package} ${source:Version} ${source:Upstream-Version}"
    source, version, upstream = said("dpkg-query", "-W", "-f", form, package).split()
    return component(name, upstream, licence, f"pkg:deb/{release}/{source}@{quote(version)}?arch=source")


def of_compiler(python: str) -> Iterator[dict[str, Any]]:
    """Parts that zig's compiler brings into every program, and libgcc, which serves a division."""
    zig = Path(said(python, "-c", "import ziglang, os; print(os.path.dirname(ziglang.__file__))"))
    version = said(python, "-c", "from importlib.metadata import version; print(version('ziglang'))")
    given = re.search(r"_LIBCPP_VERSION (\d+)", (zig / "lib/libcxx/include/__config").read_text())
    if not given:
        raise ValueError(f"{zig} does not say which libc++ it has")
    llvm = f"{int(given[1]) // 10000}.{int(given[1]) // 100 % 100}.{int(given[1]) % 100}"
    for name in ("libc++", "libc++abi", "libunwind"):
        yield component(name, llvm, LLVM_EXCEPTION, f"pkg:generic/{quote(name)}@{llvm}")
    yield component("glibc", "", "LGPL-2.1-or-later", "pkg:generic/glibc")  # the parts that are never shared
    yield component("zig", version, "MIT", f"pkg:pypi/ziglang@{version}")
    gcc = Path(said("g++", "-print-libgcc-file-name")).parent.name
    yield of_distribution("libgcc", f"libgcc-{gcc}-dev", GCC_EXCEPTION)


def of_registries() -> Iterator[dict[str, Any]]:
    """The parser of Python, and what the page of reports is bundled from."""
    core = re.search(r"^tree-sitter==(\S+)", (ROOT / "tools/tree_sitter.txt").read_text(), re.MULTILINE)
    grammar = re.search(r"^grammar=tree-sitter-python@(\S+)", (ROOT / "tools/tree_sitter.sh").read_text(), re.MULTILINE)
    if not core or not grammar:
        raise ValueError("tools/tree_sitter.* name no version of tree-sitter")
    yield component("tree-sitter", core[1], "MIT", f"pkg:pypi/tree-sitter@{core[1]}")
    yield component("tree-sitter-python", grammar[1], "MIT", f"pkg:npm/tree-sitter-python@{grammar[1]}")
    for path, package in json.loads((ROOT / "web/package-lock.json").read_text())["packages"].items():
        if path and not package.get("dev") and not COMPILES_ONLY.match(path):
            name = path.removeprefix("node_modules/")
            yield component(name, package["version"], package["license"], f"pkg:npm/{quote(name)}@{package['version']}")


def parts(python: str) -> Iterator[dict[str, Any]]:
    for line in (HERE / "parts.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, licence, package = line.split()
            yield of_distribution(name, package, licence)
    yield from of_registries()
    yield from of_compiler(python)


def main() -> None:
    python, platform = sys.argv[1:]
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    if not version:
        raise ValueError("pyproject.toml names no version")
    address = f"pkg:pypi/gapless@{version[1]}"
    about = {**component("gapless", version[1], "Apache-2.0", address), "type": "application"}
    about["properties"] = [{"name": "gapless:platform", "value": platform}]
    inside = sorted(parts(python), key=lambda part: str(part["name"]))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": about},
        "components": inside,
        "dependencies": [{"ref": address, "dependsOn": [part["bom-ref"] for part in inside]}],
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
