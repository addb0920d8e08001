#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of what Python measures and judges, tests/validate_api/test_*.py: benchmarks, comparisons, history, scripts.

usage: validate_api_test.py PROGRAM [--torch newest|oldest] [--ci] [--only PATTERN...]    (cases.py says what these mean)

With --torch in the Python that agent_test.py finds, skipped where there is none; otherwise in this one, those that need no PyTorch.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import cases
from agent_test import ROOT, WHERE, find_python


def main() -> int:
    parser = cases.arguments()
    parser.add_argument("program")
    parser.add_argument("--torch", choices=sorted(WHERE))
    given = parser.parse_args()
    python, problem = find_python(given.torch) if given.torch else (sys.executable, "")
    if problem:
        print("skipped:", problem)
        return 77
    with tempfile.TemporaryDirectory() as home:
        folder = ROOT / "tests" / "validate_api"
        path = [str(ROOT / "python"), str(ROOT / "python" / "gapless" / "agent")]
        environment = {
            **os.environ, "GAPLESS_PROGRAM": str(Path(given.program).resolve()), "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home,
        }  # fmt: skip
        command = [python, cases.__file__, str(folder), *cases.options(given)]
        return subprocess.run(command, check=False, cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
