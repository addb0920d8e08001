#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With --source-root the findings name the files of this checkout, wherever the recording was made (Linux, macOS, Windows), and a source
that changed since is said to be stale.

usage: source_root_test.py PROGRAM [unittest options]
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
from moved_recording import LINUX, MAC, SAMPLE, SCRIPT, WINDOWS, WINDOWS_LIBRARY, recording

PROGRAM = ""
BEFORE, AFTER = 1_000_000_000, 4_000_000_000  # years before and after every recording


def gapless(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def document(*words: str) -> Any:
    done = gapless(*words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Sources(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.checkout = self.folder / "checkout"
        self.checkout.mkdir()

    def source(self, name: str, lines: int = 60, modified: int = BEFORE, text: str = "pass") -> Path:
        path = self.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n" * lines, encoding="utf-8")
        os.utime(path, (modified, modified))
        return path

    def lines_of(self, file: Path, *more: str) -> set[str]:
        rows = document(
            "query", str(file), "SELECT DISTINCT source_line AS at FROM slice WHERE at != ''", "--json", *more
        )
        return {row["at"].rpartition(":")[0] for row in rows}

    def stale(self, file: Path) -> list[str]:
        report = document("analyze", str(file), "--json", "--source-root", str(self.checkout))
        return [note["text"] for note in report["read_stats"] if note["kind"] == "stale_sources"]

    def test_paths_of_every_system(self) -> None:
        self.source("src/trainer.py")
        for script, library, below in (
            (LINUX, None, "src/trainer.py"), (WINDOWS, WINDOWS_LIBRARY, "src/trainer.py"), (MAC, None, None),
        ):  # fmt: skip
            with self.subTest(script):
                file = recording(self.folder / "run.json", script, *([library] if library else []))
                self.assertEqual(self.lines_of(file), {script}, "as recorded, and no library's")
                self.assertEqual(self.lines_of(file, "--source-root", str(self.checkout)), {below or script})
        self.source("trainer.py")
        file = recording(self.folder / "run.json", MAC)
        self.assertEqual(self.lines_of(file, "--source-root", str(self.checkout)), {"trainer.py"})
        brief = gapless("brief", str(file), "--source-root", str(self.checkout)).stdout
        self.assertIn("where   trainer.py:42", brief)

    def test_the_longest_end_counts(self) -> None:
        self.source("trainer.py")
        self.source("quuxproject/src/trainer.py")
        file = recording(self.folder / "run.json", WINDOWS, WINDOWS_LIBRARY)
        self.assertEqual(self.lines_of(file, "--source-root", str(self.checkout)), {"quuxproject/src/trainer.py"})

    def test_what_is_as_it_was(self) -> None:
        self.source(SCRIPT)
        self.assertEqual(self.stale(SAMPLE), [])

    def test_modified_after_the_recording(self) -> None:
        self.source(SCRIPT, modified=AFTER)
        (note,) = self.stale(SAMPLE)
        self.assertIn(f"{SCRIPT} was modified after the recording", note)
        terminal = gapless("analyze", str(SAMPLE), "--source-root", str(self.checkout)).stdout
        self.assertIn("sources changed since the recording", terminal)

    def test_too_few_lines(self) -> None:
        self.source(SCRIPT, lines=50)
        (note,) = self.stale(SAMPLE)
        self.assertIn(f"{SCRIPT} has 50 lines, and line 54 was recorded", note)

    def test_functions_tell_the_version(self) -> None:
        """A frame of Kineto has the line in which its function begins: where it still does, the time of the file says nothing."""
        events = [
            {"ph": "X", "cat": "python_function", "name": f"/w/net/model.py({line}): {name}", "pid": 1, "tid": 1, "ts": at, "dur": 9.0}
            for at, (line, name) in enumerate(((3, "forward"), (7, "loss")))
        ] + [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 2.0, "dur": 3.0}]  # fmt: skip
        file = self.folder / "run.json"
        file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        model = self.source("net/model.py", modified=AFTER)
        same = ["", "", "@decorated", "def forward(x):", "", "", "def loss(x):"]
        for lines, wanted in (
            (same, None),
            ([*same[:2], "# moved", *same[2:]], "net/model.py was modified after the recording"),
            ([*same[:6], "def other(x):"], "net/model.py has no function loss at line 7"),
        ):
            model.write_text("\n".join(lines))
            os.utime(model, (AFTER, AFTER))
            notes = self.stale(file)
            self.assertEqual(len(notes), 0 if wanted is None else 1, notes)
            self.assertIn(wanted or "", "".join(notes))

    def test_nothing_is_there(self) -> None:
        done = gapless("brief", str(SAMPLE), "--source-root", str(self.checkout))
        self.assertIn("no source that was recorded is below", done.stderr)
        self.assertIn(f"where   {SCRIPT}:42", done.stdout)
        done = gapless("brief", str(SAMPLE), "--source-root", "/nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no such folder", done.stderr)

    def test_both(self) -> None:
        self.source(f"secretly/{SCRIPT}", modified=AFTER)
        self.source(SCRIPT, modified=AFTER)
        said = gapless("analyze", str(SAMPLE), "--source-root", str(self.checkout), "--redact", "--json").stdout
        self.assertIn("was modified after the recording", said)
        self.assertNotIn("resnet50", said)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    os.chdir(ROOT)
    unittest.main()
