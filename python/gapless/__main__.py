# SPDX-License-Identifier: Apache-2.0
"""`python -m gapless analyze …` is `gapless analyze …`, with the program of this Python where the PATH has none."""

from __future__ import annotations

import os
import sys

from .program import NO_PROGRAM, NOT_THERE, find_program


def main() -> None:
    program = find_program()
    if program is None:
        print(f"gapless: {NO_PROGRAM}", file=sys.stderr)
        sys.exit(NOT_THERE)
    os.execvp(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
