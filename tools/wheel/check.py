#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which libc a program or library needs, and fails where a wheel must not hold it: check.py FILE...

It may need nothing but parts of glibc 2.17 (manylinux_2_17), and must import memcpy: where it does not, one symbol that only zig's
compiler_rt has brought that object in whole, whose memcpy, exp and log are slower than those of libc and round differently.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NEWEST = (2, 17)
OF_GLIBC = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util))\.so\.\d+$")


def read_elf(option: str, file: Path) -> list[str]:
    words = ["readelf", "-W", option, str(file)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


def breaches(file: Path, newest: tuple[int, ...]) -> Iterator[str]:
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", "\n".join(read_elf("-d", file)))
    for library in needed:
        if not OF_GLIBC.match(library):
            yield f"it needs {library}"
    if newest > NEWEST:
        yield f"it needs glibc {'.'.join(map(str, newest))}"
    if not re.search(r" UND memcpy@", "\n".join(read_elf("--dyn-syms", file))):
        yield "memcpy is not that of libc: is libgcc.a on the command line?"


def newest_of(file: Path) -> tuple[int, ...]:
    """The newest version of glibc that it names. Raises ValueError where it names none."""
    names = re.findall(r"@GLIBC_([\d.]+)", "\n".join(read_elf("--dyn-syms", file)))
    if not names:
        raise ValueError(f"{file} names no version of glibc: is it linked to one?")
    return max(tuple(map(int, name.split("."))) for name in names)


def main() -> int:
    failed = False
    for file in map(Path, sys.argv[1:]):
        newest = newest_of(file)
        wrong = sorted(set(breaches(file, newest)))
        print(f"{file.name}: glibc {'.'.join(map(str, newest))}, {file.stat().st_size / 1e6:.1f} MB", *wrong, sep="; ")
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
