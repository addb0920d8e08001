#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the agent, tests/agent/test_*.py, with a version of PyTorch.

usage: agent_test.py [PROGRAM] --torch newest|oldest [--ci] [--only PATTERN...]    (cases.py says what these mean)

The Python that has the version is GAPLESS_TORCH or GAPLESS_TORCH_OLDEST, else build/torch/bin/python or
build/torch-oldest/bin/python, which tools/torch_env.sh makes. Skipped where there is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import cases

ROOT = Path(__file__).resolve().parent.parent
WHERE = {"newest": ("GAPLESS_TORCH", "torch"), "oldest": ("GAPLESS_TORCH_OLDEST", "torch-oldest")}


def find_python(which: str) -> tuple[str, str]:
    """The Python, or "" and the reason why there is none."""
    variable, folder = WHERE[which]
    python = os.environ.get(variable) or str(ROOT / "build" / folder / "bin" / "python")
    if not Path(python).exists():
        return "", f"no {python}: set {variable}, or run tools/torch_env.sh {which}"
    ask = [python, "-c", "import torch; print(torch.__version__)"]
    done = subprocess.run(ask, check=False, capture_output=True, text=True)
    if done.returncode:
        return "", f"{python} cannot import torch: {done.stderr.strip().splitlines()[-1]}"
    print(f"torch {done.stdout.strip()} of {python}")
    return python, ""


def probe_and_python(words: list[str]) -> tuple[str, str]:
    """The program of tests that `words[2]` names, and the newest PyTorch's Python; exits as skipped where there is none."""
    python, problem = find_python("newest")
    if problem:
        print("skipped:", problem)
        sys.exit(77)
    return str(Path(words[2]).resolve()), python


def main() -> int:
    parser = cases.arguments()
    parser.add_argument("program", nargs="?")
    parser.add_argument("--torch", choices=sorted(WHERE), default="newest")
    given = parser.parse_args()
    python, problem = find_python(given.torch)
    if problem:
        print("skipped:", problem)
        return 77
    folder = ROOT / "tests" / "agent"
    agent = str(ROOT / "python" / "gapless" / "agent")
    environment = {**os.environ, "GAPLESS_TEST_PYTHON": python, "PYTHONPATH": agent, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, cases.__file__, str(folder), *cases.options(given)]
    return subprocess.run(command, check=False, cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
