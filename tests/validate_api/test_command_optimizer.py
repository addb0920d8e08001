# SPDX-License-Identifier: Apache-2.0
"""gapless.optimize(): the command line's answer as a record. Needs no PyTorch."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import gapless
from gapless.program import ProgramError


class CommandOptimizer(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "optimized"

    def test_without_a_fix_that_applies_the_command_stays(self) -> None:
        found = gapless.optimize(["sh", "-c", "sleep 0.2"], self.folder, budget_s=60, only=["gc_freeze"])
        self.assertFalse(found.proved)
        self.assertIsNone(found.speedup)
        self.assertEqual([refused["fix"] for refused in found["refused"]], ["gc_freeze"])
        self.assertEqual(found.applied, [])
        self.assertIsNone(found.recipe)
        self.assertEqual(found.answer["budget_s"], 60)
        self.assertTrue((self.folder / "result.json").is_file())
        self.assertNotIn("answer", found.to_dict())

    def test_a_command_that_fails_and_a_fix_that_is_none_are_errors(self) -> None:
        with self.assertRaisesRegex(ProgramError, "exit status 3"):
            gapless.optimize("sh -c 'exit 3'", self.folder)
        with self.assertRaisesRegex(ProgramError, "did you mean workers"):
            gapless.optimize(["true"], self.folder, only=["worker=4"])


if __name__ == "__main__":
    unittest.main()
