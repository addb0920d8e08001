# SPDX-License-Identifier: Apache-2.0
"""The Python of docs/BENCHMARKING.md runs as it stands there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "BENCHMARKING.md"


class Page(unittest.TestCase):
    def test_blocks_are_one_script(self) -> None:
        if importlib.util.find_spec("torch") is None:
            self.skipTest("no PyTorch in this Python")
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 4)
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "page.py"
            guarded = "\n".join(blocks[1:]).replace("\n", "\n    ")
            script.write_text(f'{blocks[0]}\nif __name__ == "__main__":\n    {guarded}\n')
            done = subprocess.run(
                [sys.executable, str(script)], cwd=folder, capture_output=True, text=True, check=False, timeout=120, env=os.environ
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^\{1: 1\.0\}$")
            self.assertIn("cannot_tell None ", done.stdout)
            self.assertRegex(done.stdout, r"(?m)^samples_per_second: 1 run")
            self.assertIn("Losses: they differ", done.stdout)
            self.assertRegex(done.stdout, r"(?m)^False \d")


if __name__ == "__main__":
    unittest.main()
