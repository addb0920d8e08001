#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recordings of examples/record/record_steps.py can be read, have what the guide promises, and tell the ranks apart.

usage: record_example.py PROGRAM

Needs a Python with PyTorch: $GAPLESS_TORCH, build/torch (tools/torch_env.sh), or the one that runs this; skipped without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from corpus import ROOT

PYTHON = os.environ.get("GAPLESS_TORCH") or str(ROOT / "build/torch/bin/python")
if not Path(PYTHON).exists():
    PYTHON = sys.executable
SCRIPT = str(ROOT / "examples" / "record" / "record_steps.py")
COUNTS = (
    "SELECT count(*) AS operators, count(input_shapes) AS shapes, count(source_line) AS lines, "
    "(SELECT count(*) FROM memory_event) AS memory, (SELECT sum(calls) FROM data_loading) AS loads "
    "FROM slice WHERE category = 'operator'"
)


def answer(program: Path, *words: str) -> Any:
    done = subprocess.run([str(program), *words, "--no-cache", "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def check_alone(program: Path, folder: Path) -> list[str]:
    """One process: three steps are asked for, three complete steps are there, with everything that was asked for."""
    command = [PYTHON, SCRIPT, "--folder", str(folder), "--steps", "3", "--memory", "--workers", "0"]
    subprocess.run(command, check=True, capture_output=True)
    steps = answer(program, "analyze", str(folder))["run"]["steps"]
    missing = [name for name, count in answer(program, "query", str(folder), COUNTS)[0].items() if not count]
    return ([] if steps == 3 else [f"{steps} steps, not 3"]) + [f"no {name}" for name in missing]


def check_ranks(program: Path, folder: Path) -> list[str]:
    """Two processes: one file each, each knows its rank, and both have the same collectives."""
    launcher = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launcher, SCRIPT, "--folder", str(folder), "--steps", "3", "--workers", "0"]
    subprocess.run(command, check=True, capture_output=True)
    ranks = [row["rank"] for row in answer(program, "query", str(folder), "SELECT rank FROM trace")]
    # Not whether they are matched: gloo runs collectives on several threads, and when their order differs between the ranks
    # none is.
    calls = answer(program, "query", str(folder), "SELECT rank, sum(calls) AS calls FROM collective_groups GROUP BY 1")
    alike = len(calls) == 2 and calls[0]["calls"] == calls[1]["calls"] > 0
    return ([] if ranks == [0, 1] else [f"ranks {ranks}"]) + ([] if alike else [f"collectives {calls}"])


def main() -> int:
    if subprocess.run([PYTHON, "-c", "import torch"], check=False, capture_output=True).returncode:
        print(f"skipped: there is no PyTorch for {PYTHON} (tools/torch_env.sh)")
        return 77
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        wrong = check_alone(program, Path(folder) / "alone") + check_ranks(program, Path(folder) / "ranks")
    print("\n".join(wrong) if wrong else "the example records what the guide says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
