#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The notebook of examples/ runs: the cell magic records a cell and shows its report, and runs show theirs, each framed from the notebook.

Needs PyTorch, ipykernel and nbclient in GAPLESS_FRAMEWORKS.

usage: notebook_test.py PROGRAM BUILD_FOLDER [unittest options]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

NOTEBOOK = ROOT / "examples/notebook/first_look.ipynb"
PYTHON = os.environ.get("GAPLESS_FRAMEWORKS") or str(ROOT / "build" / "torch-frameworks" / "bin" / "python")
EXECUTE = """
import json, sys, nbformat, nbclient
notebook = nbformat.read(sys.argv[1], 4)
for source in json.loads(sys.argv[2]):
    notebook.cells.append(nbformat.v4.new_code_cell(source))
nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": sys.argv[3]}}).execute()
print(json.dumps([cell.get("outputs", []) for cell in notebook.cells]))
"""
FAILS = "%%gapless\nraise ValueError('of the cell')"


class Notebook(unittest.TestCase):
    cells: list[list[dict[str, Any]]]
    left: list[str]

    @classmethod
    def setUpClass(cls) -> None:
        needs = "import torch, nbclient, nbformat, ipykernel"
        if (
            not Path(PYTHON).exists()
            or subprocess.run([PYTHON, "-c", needs], capture_output=True, check=False).returncode
        ):
            raise unittest.SkipTest(f"{PYTHON} has no torch, nbclient and ipykernel: set GAPLESS_FRAMEWORKS")
        folder = str(Path(PYTHON).parent)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PATH": f"{folder}:{os.environ['PATH']}"}
        with tempfile.TemporaryDirectory() as temporary:
            environment["TMPDIR"] = temporary
            words = [PYTHON, "-c", EXECUTE, str(NOTEBOOK), json.dumps([FAILS]), str(NOTEBOOK.parent)]
            done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=300, check=False)
            cls.left = [path.name for path in Path(temporary).glob("gapless-cell-*")]
        assert done.returncode == 0, done.stderr
        cls.cells = json.loads(done.stdout.splitlines()[-1])

    def page(self, cell: int) -> str:
        (output,) = [one for one in self.cells[cell] if "data" in one]
        page: str = output["data"]["text/html"]
        return page

    def test_no_cell_fails_but_the_one_that_shall(self) -> None:
        failed = [at for at, outputs in enumerate(self.cells) if any(one["output_type"] == "error" for one in outputs)]
        texts = "".join(str(one.get("text", "")) + str(one.get("data", "")) for one in self.cells[-1])
        self.assertEqual(failed, [len(self.cells) - 1])
        self.assertIn("gapless: the cell failed, so there is no report", texts)

    def test_no_recording_is_left_that_nobody_asked_for(self) -> None:
        self.assertEqual(self.left, [])

    def test_the_magic_shows_the_report_of_its_cell(self) -> None:
        text = next(one["data"]["text/plain"] for one in self.cells[3] if "data" in one)
        self.assertIn("complete steps", text)
        self.assertTrue(self.page(3).startswith('<iframe title="gapless report" srcdoc='))

    def test_a_run_shows_its_report_and_a_result_its_rows(self) -> None:
        self.assertTrue(self.page(5).startswith('<iframe title="gapless report" srcdoc='))
        self.assertIn("sandbox=", self.page(5))
        self.assertIn("394", self.page(4))

    def test_the_notebook_is_kept_executed(self) -> None:
        kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        code = [cell for cell in kept["cells"] if cell["cell_type"] == "code"]
        self.assertTrue(all(cell["execution_count"] for cell in code))
        self.assertNotIn(str(Path.home()), NOTEBOOK.read_text(encoding="utf-8"))


if __name__ == "__main__":
    os.environ["GAPLESS_PROGRAM"] = str(Path(sys.argv[1]).resolve())
    os.environ["GAPLESS_LIBRARY"] = str(Path(sys.argv[2]).resolve() / "libgapless.so")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
