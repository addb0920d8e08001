#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays every recording with steps and device work, and holds the self-check to what it must be.

usage: predict_corpus.py PROBE [--list]

PROBE is predict_probe. Recordings of the corpus (GAPLESS_CORPUS, default ../shared/data); without it the test is skipped.

- The replayed step is off by at most 3 % in the median and 6 % at the worst over what is accepted, and at most one recording in four is refused.
- All kernels twice as fast give half the step where the device is busy all the time, and no more than 3 % where it waits for batches.
- A rule of the graph left out is refused wherever that changes a response by more than what the check leaves open.

--list prints a line for each recording.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("GAPLESS_CORPUS", ROOT.parent / "shared" / "data"))
PROBE = ""
HALF = "kernels twice as fast"
BUSY = "ns_resolution_trace"  # 98 % of the time on one stream
LOADING = "resnet50_num_workers_0"
LEFT_OPEN = 0.07  # twice the check's own 3 % either way, and the replay's error
MOST_BYTES = 20_000_000  # compressed: larger recordings take long and say nothing new


def recordings() -> list[Path]:
    with_steps = []
    for line in (CORPUS / "INDEX.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 9 or not cells[1].startswith("`kineto/"):
            continue
        path = CORPUS / cells[1].strip("`")
        if cells[7].isdigit() and int(cells[7]) > 0 and path.exists() and path.stat().st_size < MOST_BYTES:
            with_steps.append(path)
    return with_steps


def probe(files: list[Path], *options: str) -> dict[str, dict[str, Any]]:
    done = subprocess.run([PROBE, *options, *map(str, files)], capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["file"]: row for row in rows if row["ops"] > 0}


class Corpus(unittest.TestCase):
    rows: dict[str, dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        if not (CORPUS / "INDEX.md").exists():
            raise unittest.SkipTest(f"no recordings at {CORPUS}")
        cls.rows = probe(recordings())

    def find(self, part: str, rows: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        found = [row for file, row in rows.items() if part in file]
        self.assertTrue(found, part)
        return found

    def test_what_is_accepted_is_repeated(self) -> None:
        accepted = [abs(row["error"]) for row in self.rows.values() if "reason" not in row]
        self.assertGreater(len(self.rows), 30)
        self.assertLessEqual(statistics.median(accepted), 0.03)
        self.assertLessEqual(max(accepted), 0.06)
        self.assertLessEqual(len(self.rows) - len(accepted), len(self.rows) / 4)
        for file, row in self.rows.items():
            if "reason" in row:
                print(f"refused: {Path(file).name}: {row['reason']}")
        print(
            f"{len(self.rows)} recordings, {len(accepted)} accepted; replay error: median "
            f"{statistics.median(accepted):.2%}, worst {max(accepted):.2%}"
        )

    def test_faster_kernels_help_where_the_device_is_busy(self) -> None:
        for row in self.find(BUSY, self.rows):
            self.assertAlmostEqual(row["responses"][HALF], 0.5, delta=0.02)
        for row in self.find(LOADING, self.rows):
            self.assertGreaterEqual(row["responses"][HALF], 0.97)

    def test_a_rule_left_out_is_noticed(self) -> None:
        refused = 0
        for rule in ("R3", "R6", "R7", "R8", "R9"):
            for file, row in probe(recordings(), "--without", rule).items():
                with_it = self.rows[file]
                if "reason" in with_it or not row["responses"]:
                    continue
                changes = [abs(share - row["responses"][what]) for what, share in with_it["responses"].items()]
                if max(changes) > LEFT_OPEN:
                    self.assertIn("reason", row, f"{file} without {rule}")
                    refused += 1
        self.assertGreaterEqual(refused, 20)
        print(f"rules left out where they matter: {refused} times, all refused")


if __name__ == "__main__":
    PROBE = sys.argv[1]
    if "--list" in sys.argv[2:]:
        for name, found in sorted(probe(recordings()).items()):
            half = found["responses"].get(HALF, float("nan"))
            print(f"{found['error']:+8.2%} {half:6.3f} {Path(name).name:60.60} {found.get('reason', '')}")
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
