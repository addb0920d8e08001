#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The mistakes of a first day, and what each gets: a sentence, and a line to type. Nothing is written or run by any of them.

usage: first_mistakes_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = ""
SAMPLE = next((ROOT / "samples").glob("*.json.gz"))

# The words after `gapless`, the exit status, and what the answer must say. The words of "hint:" are what to type next.
MISTAKES: list[tuple[list[str], int, list[str]]] = [
    # No verb.
    (["trace.json.gz", "-v"], 2, ["hint: gapless analyze trace.json.gz -v"]),
    (["train.py", "--lr", "3"], 2, ["hint: gapless profile -- python train.py --lr 3"]),
    (["torchrun", "--nproc_per_node", "2", "train.py"], 2, ["hint: gapless profile -- torchrun --nproc_per_node 2 train.py"]),
    (["s3://runs/42/"], 2, ["hint: gapless analyze s3://runs/42/"]),
    (["-o", "report.html", "analyze", "trace.json.gz"], 2, ["hint: the verb comes first: gapless analyze -o report.html trace.json.gz"]),
    (["analyse", "trace.json.gz"], 2, ["hint: gapless analyze trace.json.gz"]),
    (["optimise", "--", "python", "train.py"], 2, ["hint: gapless optimize -- python train.py"]),
    (["record", "--", "python", "train.py"], 2, ["hint: gapless profile -- python train.py"]),
    (["frobnicate"], 2, ["no verb 'frobnicate'", "hint: gapless --help"]),
    (["nothere.json"], 2, ["no such file", "gapless analyze PATH"]),
    (["version"], 2, ["hint: gapless --version"]),
    # A command without `--`.
    (["profile", "python", "train.py"], 125, ["after `--`", "hint: gapless profile -- python train.py"]),
    (["profile", "-o", "run", "train.py", "--epochs", "3"], 125, ["hint: gapless profile -o run -- python train.py --epochs 3"]),
    (["optimize", "train.py"], 2, ["hint: gapless optimize -- python train.py"]),
    (["run", "train.py"], 125, ["hint: gapless run -- python train.py"]),
    (["compare", "old.py", "train.py"], 2, ["hint: gapless compare -- python old.py -- python train.py"]),
    (["validate", "python", "old.py", "python", "train.py"], 2, ["hint: gapless validate -- python old.py -- python train.py"]),
    (["validate"], 2, ["two commands are required", "hint: -- python old.py -- python new.py"]),
    # A command that cannot be started.
    (["profile", "--", "train.py"], 127, ["command not found", "-- python train.py"]),
    (["profile", "--", "./train.py"], 126, ["cannot be executed", "-- python ./train.py"]),
    (["bench", "--", "no-such-program"], 5, ["command not found", "as you would type them"]),
    (["optimize"], 2, ["no command given", "-- python train.py"]),
    # Something that is no recording, or is not there.
    (["analyze", "trace.json"], 3, ["No such file", "hint: did you mean trace.json.gz?"]),
    (["analyze", "train.py"], 3, ["a program, not a recording", "gapless profile -- python train.py"]),
    (["analyze", "scripts"], 3, ["no recording in this folder", "gapless profile -- python scripts/train.py"]),
    (["analyze", "nothing"], 3, ["no recording in this folder", "looked for .json"]),
    (["analyze", "empty.json"], 3, ["the file is empty", "gapless formats"]),
    (["analyze", "trace.json.gz", "--rank", "0,1"], 3, ["names no rank: leave out --rank"]),
    (["compare", "old-run", "new-run"], 3, ["hint: gapless why old-run new-run"]),
    # Something that is missing.
    (["analyze"], 2, ["analyze needs PATH", "hint: gapless analyze new-run"]),
    (["query", "trace.json.gz"], 2, ["query needs SQL", "hint: gapless query trace.json.gz kernels"]),
    (["diff", "trace.json.gz"], 2, ["diff needs RUN", "hint: gapless diff before.json.gz after.json.gz"]),
    (["tune"], 2, ["tune needs QUESTION", "hint: gapless tune dataloader -- python train.py"]),
    # Misspelt names.
    (["analyze", "trace.json.gz", "--explian", "launch_bound"], 2, ["unknown option", "did you mean --explain?"]),
    (["analyze", "trace.json.gz", "--explain", "launchbound"], 2, ["did you mean launch_bound?"]),
    (["predict", "trace.json.gz", "--what", "ampp"], 2, ["did you mean amp?"]),
    (["query", "trace.json.gz", "SELECT * FROM kernel"], 2, ["no such table: kernel", "did you mean kernels?"]),
    (["query", "trace.json.gz", "SELECT device_ FROM kernels"], 2, ["no such column: device_", "did you mean device?"]),
    (["query", "SELECT 1", "trace.json.gz"], 2, ["hint: gapless query trace.json.gz 'SELECT 1'"]),
    (["analyze", "trace.json.gz", "-o", "report.pdf"], 2, ["cannot write a report as .pdf", "hint: -o report.html", ".md"]),
]  # fmt: skip


def make_folder(at: Path) -> None:
    """A folder as a person has it: a recording, a script, two run folders."""
    shutil.copy(SAMPLE, at / "trace.json.gz")
    for script in ("train.py", "old.py", "scripts/train.py"):
        (at / script).parent.mkdir(exist_ok=True)
        (at / script).write_text("print('never run')\n")
    (at / "nothing").mkdir()
    (at / "empty.json").touch()
    for age, run in enumerate(("new-run", "old-run")):
        (at / run).mkdir()
        (at / run / "control").touch()
        (at / run / "manifest.json").write_text('{"format": "gapless.run", "format_version": 1}')
        os.utime(at / run, (2_000_000_000 - age, 2_000_000_000 - age))


class FirstMistakes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)
        make_folder(self.at)

    def run_program(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.at / ".cache"), "LC_ALL": "C.UTF-8"}
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=self.at,
                              env=environment, timeout=120, check=False)  # fmt: skip

    def test_each_mistake_is_answered_with_what_to_type(self) -> None:
        for words, status, said in MISTAKES:
            with self.subTest(typed=" ".join(["gapless", *words])):
                done = self.run_program(*words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual(done.stdout, "")
                for text in said:
                    self.assertIn(text, done.stderr)
                self.assertIn("hint: ", done.stderr)

    def test_a_mistake_leaves_nothing_behind(self) -> None:
        before = sorted(path.name for path in self.at.iterdir())
        for words in (["analyze", "trace.json.gz", "-o", "report.pdf"], ["profile", "-o", "run", "python", "train.py"]):
            self.run_program(*words)
        self.assertEqual(sorted(path.name for path in self.at.iterdir() if path.name != ".cache"), before)

    def test_a_hint_of_a_whole_line_can_be_typed(self) -> None:
        hint = self.run_program("analyse", "trace.json.gz").stderr.split("hint: gapless ")[1].split()
        self.assertEqual(self.run_program(*hint).returncode, 0)

    def test_help_and_version_are_given_behind_any_verb(self) -> None:
        self.assertIn("usage: gapless profile", self.run_program("profile", "python", "train.py", "-h").stdout)
        self.assertRegex(self.run_program("analyze", "--version").stdout, r"^gapless \d")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_that_may_not_be_read(self) -> None:
        (self.at / "trace.json.gz").chmod(0)
        self.assertIn("hint: who may read it: ls -l trace.json.gz", self.run_program("analyze", "trace.json.gz").stderr)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
