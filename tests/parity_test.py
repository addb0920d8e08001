#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The decision of docs/parity.md on trainings of bench/parity: what is harmless is accepted, what is harmful is not.

usage: parity_test.py PROGRAM PROBE [--ci] [--only PATTERN...]    PROBE is parity_probe
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import cases
from agent_test import ROOT, probe_and_python

PROBE = ""
PYTHON = ""
# The test that names each harmful change first, alone and under bf16.
NAMED_BY = {"lr_1.1": "settings", "no_decay": "settings", "norm_momentum": "buffers", "not_clipped": "typical"}


def campaign(*words: str) -> list[dict[str, Any]]:
    """Returns a row for each case."""
    with tempfile.TemporaryDirectory(prefix="gapless-parity-") as folder:
        out = Path(folder) / "rows.jsonl"
        done = subprocess.run(
            [PYTHON, str(ROOT / "bench" / "parity" / "campaign.py"), PROBE, "--out", str(out), *words],
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in out.read_text().splitlines()]


def accepted(row: dict[str, Any]) -> bool:
    return row["verdict"] in ("exact", "rounding")


class Decisions(unittest.TestCase):
    @cases.in_ci
    def test_two_trainings(self) -> None:
        """A conv net with batch norm and a schedule; a GAN, which has two optimisers and draws."""
        changes = "nothing fused split_sums bf16 rows lr_1.1 no_decay layer_1.1 step_twice norm_momentum other_seed"
        rows = campaign("--trainings", "conv", "gan", "--seeds", "0", "--changes", *changes.split())
        self.assertEqual({row["training"] for row in rows}, {"conv", "gan"})
        for row in rows:
            what = " ".join([row["training"], *row["changes"]])
            with self.subTest(what):
                self.assertIn("verdict", row, row)
                if row["kind"] == "harmless":
                    self.assertTrue(accepted(row), row["reason"])
                elif row["kind"] == "harmful" and row["acted"]:
                    self.assertEqual(row["verdict"], "other_training", row["reason"])
                    self.assertEqual(row["test"], NAMED_BY.get(row["changes"][0], row["test"]))
                elif row["kind"] == "other":
                    self.assertIn(row["verdict"], ("same_distribution", "cannot_tell"))
                if row["changes"] == ["nothing"]:
                    self.assertEqual(row["verdict"], "exact", row["reason"])

    def test_every_training(self) -> None:
        """The aims of docs/parity.md, on a seed that no limit was chosen on."""
        rows = [row for row in campaign("--seeds", "1") if "verdict" in row]
        harmless = [accepted(row) for row in rows if row["kind"] == "harmless"]
        harmful = [accepted(row) for row in rows if row["kind"] == "harmful" and row["acted"]]
        self.assertGreater(len(harmless), 200)
        self.assertGreater(len(harmful), 400)
        self.assertGreaterEqual(sum(harmless), 0.95 * len(harmless))
        self.assertLessEqual(sum(harmful), 0.02 * len(harmful))


def main() -> int:
    global PROBE, PYTHON
    PROBE, PYTHON = probe_and_python(sys.argv)
    return cases.main(sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
