# SPDX-License-Identifier: Apache-2.0
"""The Python of docs/BENCHMARKING.md and docs/python_api.md runs as it stands there."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLANTED = DOCS.parent / "examples" / "planted"


class Page(unittest.TestCase):
    def run_page(self, name: str) -> str:
        """Runs the blocks of a page as one script; gives what it prints."""
        if importlib.util.find_spec("torch") is None:
            self.skipTest("no PyTorch in this Python")
        text = (DOCS / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 4)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(PLANTED, folder, dirs_exist_ok=True)
            shutil.copy(PLANTED / "plain_adamw.py", Path(folder) / "train.py")
            script = Path(folder) / "page.py"
            guarded = "\n".join(blocks[1:]).replace("\n", "\n    ")
            script.write_text(f'{blocks[0]}\nif __name__ == "__main__":\n    {guarded}\n')
            done = subprocess.run(
                [sys.executable, str(script)], cwd=folder, capture_output=True, text=True, check=False, timeout=300, env=os.environ
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

    def test_measuring(self) -> None:
        said = self.run_page("BENCHMARKING.md")
        self.assertRegex(said, r"(?m)^\{1: 1\.0\}$")
        self.assertIn("cannot_tell None ", said)
        self.assertRegex(said, r"(?m)^samples_per_second: 1 run")
        self.assertIn("Training: cannot tell: other parameters at the start", said)
        self.assertRegex(said, r"(?m)^False \d")

    def test_optimising(self) -> None:
        said = self.run_page("python_api.md")
        self.assertRegex(said, r"(?m)^mixed precision \d")
        self.assertRegex(said, r"(?m)^loading 0 1\.0 \[0")  # what is in memory needs no worker
        self.assertRegex(said, r"(?m)^fused True$")
        self.assertRegex(said, r"(?m)^batch 64 \d")
        self.assertIn("Estimated Performance Improvement", said)
        self.assertRegex(said, r"(?m)^\[\] 1\.0 ")
        self.assertIn("Nothing differs: the optimised model is the baseline", said)


if __name__ == "__main__":
    unittest.main()
