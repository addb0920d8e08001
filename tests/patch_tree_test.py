#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Patches of programs of several files: each change that a fix made while the program ran is in the patch, or is by hand for a reason.

A checkout of patch_checkouts.py trains under the agent with fixes on; of what they changed patch_probe writes the patch. It is applied, every
file of it compiles, and the patched program takes as many steps with the same losses; the fixes that are in the patch have nothing to
change in it.

usage: patch_tree_test.py PROGRAM PROBE [--ci] [--only PATTERN...]    PROBE is patch_probe
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cases
from agent_test import ROOT, probe_and_python
from patch_checkouts import CHECKOUTS, Checkout

sys.path[:0] = [str(ROOT / "tests" / "agent"), str(ROOT / "python" / "gapless" / "agent")]
import harness

PROBE = ""
PYTHON = ""
ON, REFUSED = harness.layout.FIX_ON, harness.layout.FIX_REFUSED


@dataclass
class Ran:
    """A run of the program: the changes as the agent reports them, why fixes were refused, and the lines that construct the first
    loader and the first optimiser."""

    steps: int
    losses: list[float]
    changes: list[dict[str, Any]]
    refused: dict[str, str]
    made: dict[str, str]


def write(checkout: Checkout, top: Path) -> None:
    for name, text in checkout.files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if checkout.git:
        subprocess.run(["git", "init", "--quiet"], cwd=top / checkout.git, check=True)


def words_of(checkout: Checkout, top: Path) -> list[str]:
    return [PYTHON, *(word.format(top=top) for word in checkout.command)]


def run(checkout: Checkout, top: Path, fixes: tuple[str, ...]) -> Ran:
    with tempfile.TemporaryDirectory(prefix="gapless-tree-run-") as folder:
        environment = harness.environment(Path(folder), {"record": {"on": False}, "fixes": list(fixes)}, None)
        paths = [environment["PYTHONPATH"], *(str(top / path) for path in checkout.paths)]
        environment.update(PYTHONPATH=os.pathsep.join(paths), PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run(
            words_of(checkout, top),
            cwd=top / checkout.cwd,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        rings = harness.Done(Path(folder), 0, done.stdout, done.stderr).rings()
        ring = next(ring for ring in rings if ring.role == harness.layout.ROLE_TRAINS)
        said = [(record.value, json.loads(ring.text(record.a))) for record in ring.of("fix")]
        return Ran(
            steps=len(ring.of("step")),
            losses=[float(line) for line in done.stdout.split()],
            changes=[change for value, change in said if value == ON],
            made={kind: json.loads(ring.text(ring.of(kind)[0].a))["line"] for kind in ("loader", "optimizer")},
            refused={change["fix"]: change["what"] for value, change in said if value == REFUSED},
        )


def ask(request: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run([PROBE], input=json.dumps(request) + "\n", capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    answer["diff"] = bytes.fromhex(answer["diff"]).decode()
    return answer


def files_of(diff: str) -> list[str]:
    """The files that the patch names; each has a section of its own, as git writes it."""
    heads = re.findall(r"^diff --git a/(.*) b/(.*)$", diff, re.MULTILINE)
    assert [new for _, new in heads] == [
        name.rstrip("\t") for name in re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE)
    ]
    return [new for _, new in heads]


def apply(checkout: Checkout, top: Path, diff: str) -> None:
    """As a user would: with git where there is a repository, else with patch."""
    command = ["git", "apply"] if checkout.git else ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch"]
    done = subprocess.run(command, cwd=top / checkout.root, input=diff, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr + diff
    for name in files_of(diff):
        compile((top / checkout.root / name).read_bytes(), name, "exec", dont_inherit=True)


class Trees(unittest.TestCase):
    def setUp(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="gapless-tree-")).resolve()
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)

    def try_one(self, checkout: Checkout) -> None:
        write(checkout, self.top)
        before = run(checkout, self.top, checkout.fixes)
        self.assertEqual(before.steps, checkout.steps)
        here = self.top / checkout.cwd
        answer = ask({"command": words_of(checkout, self.top), "here": str(here), "changes": before.changes})
        by_hand = answer["advice"] + answer["left_out"]
        print(
            f"{checkout.name}: {len(before.changes)} changes, in the patch {files_of(answer['diff'])}, by hand {by_hand}"
        )
        self.check_truth(checkout, before, answer)
        self.check_made(checkout, before)
        apply(checkout, self.top, answer["diff"])
        self.check_patched(checkout, before)

    def check_truth(self, checkout: Checkout, before: Ran, answer: dict[str, Any]) -> None:
        self.assertEqual(
            {change["fix"] for change in before.changes}, {*checkout.edited, *checkout.by_hand}, before.refused
        )
        self.assertEqual(Path(answer["root"]), self.top / checkout.root)
        self.assertEqual(
            files_of(answer["diff"]), sorted({name for names in checkout.edited.values() for name in names})
        )
        by_hand = answer["advice"] + answer["left_out"]
        self.assertEqual(len(by_hand), len(checkout.by_hand), by_hand)
        for fix, reason in checkout.by_hand.items():
            self.assertTrue(any(said.startswith(fix) and reason in said for said in by_hand), (reason, by_hand))

    def check_made(self, checkout: Checkout, before: Ran) -> None:
        """The agent says where objects are constructed, not where they are used."""
        for kind, said in before.made.items():
            name, part = checkout.made.get(kind, ("", ""))
            if not name:
                self.assertTrue(not said or kind in checkout.elsewhere, said)
                continue
            path = self.top / checkout.root / name
            line = 1 + next(at for at, text in enumerate(path.read_text().splitlines()) if part in text)
            self.assertIn(path.name, said)
            self.assertTrue(f"{path}:{line}".endswith(said), (said, f"{path}:{line}"))

    def check_patched(self, checkout: Checkout, before: Ran) -> None:
        """The patched program trains as the program with the fixes on did, and leaves them nothing to do."""
        after = run(checkout, self.top, checkout.fixes)
        self.assertEqual(after.steps, checkout.steps)
        for one, other in zip(before.losses, after.losses):
            self.assertAlmostEqual(one, other, places=4)
        self.assertEqual(
            {change["fix"] for change in after.changes}, set(checkout.by_hand), "a fix still changes something"
        )


def case_of(checkout: Checkout) -> Any:
    def test(self: Trees) -> None:
        self.try_one(checkout)

    return test


for _name, _checkout in CHECKOUTS.items():
    setattr(Trees, f"test_{_name}", case_of(_checkout))
for _name in ("package",):
    cases.in_ci(getattr(Trees, f"test_{_name}"))


def main() -> int:
    global PROBE, PYTHON
    PROBE, PYTHON = probe_and_python(sys.argv)
    return cases.main(sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
