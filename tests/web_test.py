#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of web/ (reports read in a browser) with the program under test.

usage: web_test.py PROGRAM [--ci] [options of playwright]    skipped without a browser, or without the tools of web/

--ci reads the reports of two recordings, as web/test/recordings.ts chooses them, and leaves tests with the tag @schedule out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import FOLDER, ROOT

PLAYWRIGHT = ROOT / "web/node_modules/.bin/playwright"
SKIPPED = 77


def main() -> int:
    browser = shutil.which("chromium")
    if browser is None:
        print("skipped: there is no chromium")
        return SKIPPED
    if not PLAYWRIGHT.exists():
        print("skipped: web/ has no playwright (tools/web_deps.sh test)")
        return SKIPPED
    program, *options = sys.argv[1:]
    is_ci = "--ci" in options
    options = [option for option in options if option != "--ci"]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "GAPLESS": str(Path(program).resolve()),
            "GAPLESS_CORPUS": str(FOLDER.resolve()),
            "GAPLESS_CHROMIUM": browser,
            "GAPLESS_TEST_OUTPUT": folder,
            "XDG_CACHE_HOME": folder,
            "GAPLESS_RECORDINGS": "few" if is_ci else "all",
        }
        return subprocess.run([PLAYWRIGHT, "test", *options], cwd=ROOT / "web", env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
