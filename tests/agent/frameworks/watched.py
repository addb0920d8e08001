# SPDX-License-Identifier: Apache-2.0
"""Parts that the programs with a callback of gapless share. Not a program of the test."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))

# Orders of tests/integrations_test.py for a program; without it nothing is recorded or logged.
OPTIONS = json.loads(os.environ.get("WATCH", "{}"))


def report(watch, taken: int) -> None:
    print("steps", taken)
    if OPTIONS:
        found = [] if watch.path is None else watch.run.table("step").to_rows()
        print(
            "watched",
            json.dumps({"count": watch.count, "broken": watch.broken, "path": watch.path, "recorded": len(found)}),
        )
