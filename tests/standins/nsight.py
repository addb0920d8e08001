#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for nsys and ncu under the name by which it is called, for tests on machines without a GPU.

It writes the report it is asked for, and prints or copies what an export of tests/data holds; it does not run the command. The
file $GAPLESS_STANDIN_KEPT gets its arguments, a line of JSON a call; $GAPLESS_STANDIN_ENDING is the ending of reports (.nsys-rep).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"


def main(words: list[str]) -> int:
    with open(os.environ["GAPLESS_STANDIN_KEPT"], "a", encoding="utf-8") as kept:
        kept.write(json.dumps([Path(sys.argv[0]).name, *words]) + "\n")
    option = {word.partition("=")[0]: word.partition("=")[2] for word in words if word.startswith("--")}
    if words[0] == "export":
        shutil.copy(DATA / "nsys_two_processes.sqlite", option["--output"])
        return 0
    if "--import" in words:
        print((DATA / "kernels.ncu.csv").read_text(encoding="utf-8"))
        return 0
    if words[0] == "profile":
        report = option["--output"] + os.environ.get("GAPLESS_STANDIN_ENDING", ".nsys-rep")
    else:
        report = option.get("--export") or words[words.index("--export") + 1]
    Path(report).write_text("report", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
