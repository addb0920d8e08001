#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of one late rank to a job is priced at what the job would save, not at the mean over the ranks.

usage: job_prices_test.py PROGRAM [--ranks N…]

Jobs of tests/simulator/job.py, in which one rank is late for a planted cause: its loader, its host, its kernels, its backward pass. The
first gain of the report must be within 10 % of what the same simulation takes without the cause, and no later one adds to it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from simulator.job import CAUSES, Planted, recordings

CLOSE = 0.1
RANKS = (2, 8, 64)
DELAYS = {"loader": (8_000.0, 30_000.0), "host": (8_000.0, 30_000.0), "kernels": (1.5, 3.0), "backward": (1.5, 3.0)}


def report(program: Path, planted: Planted) -> tuple[dict[str, Any], float]:
    """Returns what is said of the job, and how many times as fast it would be."""
    ranks, before, after = recordings(planted)
    with tempfile.TemporaryDirectory() as folder:
        for rank in ranks:
            document = {**rank.document, "traceEvents": rank.events}
            (Path(folder) / f"rank{rank.rank}.json").write_text(json.dumps(document), encoding="utf-8")
        command = [str(program), "analyze", folder, "--json", "--no-cache"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), before / after


def wrong(program: Path, planted: Planted) -> str:
    said, truth = report(program, planted)
    if not said["plan"]:
        return f"nothing is to be fixed, and {truth:.2f} times as fast is possible"
    first = said["plan"][0]
    if abs(first["gain"]["expected"] / truth - 1) > CLOSE:
        return f"{first['bottleneck']} brings {first['gain']['expected']:.2f}, and the truth is {truth:.2f}"
    if planted.cause == "loader" and planted.ranks == 2 and first["bottleneck"] != "data_loading":
        return f"{first['bottleneck']} is first, not the loader of the late rank"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--ranks", type=int, nargs="*", default=RANKS)
    given = parser.parse_args()
    found = 0
    for ranks in given.ranks:
        for cause in CAUSES:
            for delay in DELAYS[cause]:
                said = wrong(given.program.resolve(), Planted(cause, ranks, ranks - 1, delay))
                if said:
                    print(f"{cause} of {delay:g} on one of {ranks} ranks: {said}")
                    found += 1
    print(f"{len(given.ranks) * len(CAUSES) * 2} jobs, {found} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
