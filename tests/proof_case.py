# SPDX-License-Identifier: Apache-2.0
"""Base of the tests of `bench`, `compare`, `gate` and `bisect`: a folder of their own, the program, a command without PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
LIMIT = 240  # seconds for one command

# Prints a time like the one given, give or take 1 %, and ends: what is measured does not depend on this machine's speed.
NOISY = "import random, sys; print('took', float(sys.argv[1]) * (1 + random.gauss(0, 0.01)), 'ms')"


def noisy(ms: float) -> list[str]:
    return [sys.executable, "-S", "-c", NOISY, str(ms)]


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.work = self.folder / "work"
        self.work.mkdir()
        (self.folder / "tmp").mkdir()
        self.environment = {
            **os.environ, "LC_ALL": "C.UTF-8", "TMPDIR": str(self.folder / "tmp"), "HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }  # fmt: skip

    def gapless(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(PROGRAM), *words], cwd=self.work, env=self.environment, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
        self.assertEqual(list((self.folder / "tmp").iterdir()), [], "something was left behind")
        return done

    def json(self, *words: str, status: int = 0) -> dict[str, Any]:
        done = self.gapless(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        document: dict[str, Any] = json.loads(done.stdout)
        return document
