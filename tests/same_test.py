#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless same` on small trainings: what it says, in words and JSON, and its exit status.

usage: same_test.py PROGRAM [--ci] [--only PATTERN...]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import cases
from agent_test import find_python

PROGRAM = ""
PYTHON = ""

TRAIN = """
import sys, torch
torch.manual_seed(3)
words = sys.argv[1:]
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
if "other_seed" in words:
    torch.manual_seed(4)
drop = torch.nn.Dropout(0.1 if "dropout" in words else 0.0)
optimizer = torch.optim.AdamW(net.parameters(), lr=2.2e-3 if "lr" in words else 2e-3, fused="fused" in words)
inputs, targets = torch.randn(512, 16, generator=torch.Generator().manual_seed(1)), torch.arange(512) % 4
for step in range(40):
    x, y = inputs[step % 16 * 32:][:32], targets[step % 16 * 32:][:32]
    with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in words):
        loss = torch.nn.functional.cross_entropy(net(drop(x)), y)
    optimizer.zero_grad()
    loss.backward()
    if "layer" in words:
        net[3].weight.grad.mul_(1.02)
    if "unmeasured" not in words:
        optimizer.step()
"""


class Same(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gapless-same-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.script = self.folder / "train.py"
        self.script.write_text(TRAIN)

    def ask(self, a: str, b: str, *options: str, status: int = 0) -> dict[str, Any]:
        commands = [[PYTHON, str(self.script), *words.split()] for words in (a, b)]
        done = subprocess.run(
            [PROGRAM, "same", "--json", *options, "--", *commands[0], "--", *commands[1]],
            check=False, cwd=self.folder, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"),
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    @cases.in_ci
    def test_a_setting_that_changed(self) -> None:
        found = self.ask("", "lr", status=1)
        self.assertEqual((found["verdict"], found["test"], found["step"]), ("other_training", "settings", 1))
        self.assertIn("AdamW has lr 0.0022 instead of 0.002", found["reason"])

    def test_rounding(self) -> None:
        found = self.ask("", "fused")
        self.assertEqual((found["verdict"], found["unit"], found["steps"]), ("rounding", "fp32", 20))
        self.assertLess(found["value"], found["limit"])

    def test_exact(self) -> None:
        found = self.ask("dropout", "dropout")
        self.assertEqual((found["verdict"], found["reason"]), ("exact", "the same, bit for bit, over 20 steps"))
        self.assertEqual(self.ask("", "", "--steps", "7")["steps"], 7)
        self.assertEqual(self.ask("", "fused", "--exact", status=1)["verdict"], "rounding")

    def test_precision(self) -> None:
        self.assertEqual(self.ask("", "bf16")["unit"], "bf16")
        self.assertEqual(self.ask("", "bf16", "--claim", "fp32", status=1)["verdict"], "other_training")
        self.assertEqual(self.ask("bf16", "bf16 fused")["unit"], "bf16", "a program is held to its own precision")

    def test_a_layer_that_learns_faster(self) -> None:
        for precision in ("", "bf16 "):
            found = self.ask(precision, precision + "layer", status=1)
            self.assertEqual(found["verdict"], "other_training")
        self.assertIn("3.weight", found["tensor"])

    def test_other_random_numbers(self) -> None:
        found = self.ask("dropout", "dropout other_seed", "--steps", "40", status=0)
        self.assertEqual((found["verdict"], found["step"]), ("same_distribution", 1))

    def test_nothing_to_compare(self) -> None:
        found = self.ask("unmeasured", "", status=5)
        self.assertEqual(found["verdict"], "cannot_tell")
        self.assertIn("no optimiser", found["reason"])

    def test_the_recipe_of_a_fix(self) -> None:
        """Below another gapless the recording is made where the training runs."""
        recipe = self.folder / "recipe.json"
        recipe.write_text(
            json.dumps({"format": "gapless.recipe", "schema": 1, "command": ["x"], "fixes": [{"item": "gc_freeze"}]})
        )
        bare = [PYTHON, str(self.script)]
        done = subprocess.run(
            [PROGRAM, "same", "--json", "--", *bare, "--", PROGRAM, "run", "--recipe", str(recipe), "--", *bare],
            check=False, cwd=self.folder, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_a_command_that_fails(self) -> None:
        done = subprocess.run(
            [PROGRAM, "same", "--", PYTHON, "-c", "raise SystemExit(3)", "--", PYTHON, "-c", "1"],
            check=False, cwd=self.folder, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 5)
        self.assertIn("exit status 3", done.stderr)


def main() -> int:
    global PROGRAM, PYTHON
    PROGRAM = str(Path(sys.argv[1]).resolve())
    PYTHON, problem = find_python("newest")
    if problem:
        print("skipped:", problem)
        return 77
    return cases.main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
