#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Secrets on a command line, in its environment and in its output: the command gets them, nothing that is left or printed has them.

usage: secrets_test.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
LIMIT = 120  # seconds for one command
SECRET, URL, PRINTED = "correct-horse-1", "battery-staple-2", "s3cr3tOfTheOutput00"
KEY = f"--api-key={SECRET}"
# Notes that it got the secret, prints a number and another secret.
SCRIPT = f"""
[ "$1" = "{KEY[:10]}$(cat secret)" ] && echo yes >> got
echo "value 5"; echo "Authorization: Bearer {PRINTED}"
"""


class SecretsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="gapless-secrets-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "home").mkdir()
        (self.folder / "outside").write_text(SECRET)
        self.command = ["sh", "ok.sh", KEY, "--db", f"postgres://me:{URL}@host/db"]
        self.failing = ["sh", "fails.sh", *self.command[2:]]
        self.script("ok.sh", SCRIPT.replace("$(cat secret)", "$(cat ../outside)"))
        self.script("fails.sh", SCRIPT + "exit 3\n")

    def script(self, name: str, text: str) -> None:
        place = self.folder / "work"
        place.mkdir(exist_ok=True)
        (place / name).write_text(text)

    def run_it(self, *words: str, status: int | None = 0, passed_on: bool = False) -> str:
        """Returns the output, after checking that neither it nor any file has a secret. The command may print its own."""
        home = str(self.folder / "home")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS_", "XDG_"))}
        environment = {**kept, "HOME": home, "TMPDIR": home, "NCCL_AUTH_TOKEN": SECRET, "SLURM_JWT": SECRET}
        done = subprocess.run(
            [str(PROGRAM), *words], cwd=self.folder / "work", env=environment, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        if status is not None:
            self.assertEqual(done.returncode, status, printed)
        for secret in (SECRET, URL, PRINTED):
            if not (passed_on and secret == PRINTED):
                self.assertNotIn(secret, printed)
            for path in self.files():
                self.assertNotIn(secret.encode(), path.read_bytes(), f"{path.name} has it")
        return printed

    def files(self) -> list[Path]:
        ours = {"ok.sh", "fails.sh", "outside"}
        return [
            path
            for path in self.folder.rglob("*")
            if path.is_file() and path.name not in ours and ".git" not in path.parts
        ]

    def assert_private(self, path: Path) -> None:
        self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, f"{path.name} is for its owner")

    def test_a_run_folder(self) -> None:
        self.run_it("profile", "--light", "-o", "run", "--", *self.command, passed_on=True)
        manifest = json.loads((self.folder / "work/run/manifest.json").read_text())
        self.assertEqual(manifest["command"][2:], ["--api-key=<redacted>", "--db", "postgres://me:<redacted>@host/db"])
        self.assertEqual((self.folder / "work/got").read_text(), "yes\n", "what runs is not changed")
        self.run_it("profile", "--light", "-o", "fails", "--", *self.failing, status=3, passed_on=True)

    def test_results(self) -> None:
        self.run_it("bench", "--runs", "3", "--whole", "--json=bench.json", "--", *self.command)
        bench = json.loads((self.folder / "work/bench.json").read_text())
        self.assertIn("--api-key=<redacted>", bench["command"])
        self.run_it("bench", "--runs", "3", "--pattern", "value ([0-9]+)", "--json", "--", *self.command)
        self.run_it("compare", "--max-pairs", "4", "--json", "--", *self.command, "--", *self.command, status=None)
        line = " ".join(self.command)
        self.run_it("compare", "--max-pairs", "4", "--json", "--a", line, "--b", line, status=None)

    def test_what_fails(self) -> None:
        self.assertIn("<redacted>", self.run_it("bench", "--runs", "3", "--", *self.failing, status=5))
        self.run_it("bench", "--runs", "3", "--pattern", "no such ([0-9]+)", "--", *self.command, status=5)
        self.run_it("bench", "--scaling", "1,2", "--json", "--", *self.command, status=2)
        self.run_it("optimize", "--only", "threads=1", "-o", "optimized", "--", *self.failing, status=5)
        self.run_it(
            "optimize", "--only", "threads=1", "-o", "again", "--budget", "20s", "--", *self.command, status=None
        )
        self.assert_private(self.folder / "work/optimized/journal.jsonl")

    def test_a_history(self) -> None:
        for _ in range(2):
            self.run_it("gate", "--db", "sqlite:h.db", "--json", "--", *self.command, status=None)
        self.run_it("bench", "--runs", "3", "--whole", "--json=bench.json", "--", *self.command)
        self.run_it("history", "record", "bench.json", "--db", "sqlite:h.db")
        # Result files of other tools have the command as their name.
        results = {"results": [{"command": " ".join(self.command), "mean": 1.0, "times": [1.0, 1.1]}]}
        (self.folder / "outside").write_text(json.dumps(results))
        self.run_it("history", "record", "../outside", "--db", "sqlite:h.db")
        self.run_it("history", "list", "--db", "sqlite:h.db", "--json")
        self.assert_private(self.folder / "work/h.db")

    def test_a_bisection(self) -> None:
        git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(self.folder / "work")]
        subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
        for number in range(3):
            (self.folder / "work/number").write_text(str(number))
            subprocess.run([*git, "add", "-A"], check=True)
            subprocess.run([*git, "commit", "-q", "-m", f"change {number}"], check=True)
        self.run_it(
            "bisect", "--good", "HEAD~2", "--bad", "HEAD", "--runs", "6", "--journal", "j.tsv", "--json",
            "--build", f"true {KEY}", "--", *self.command, status=None,
        )  # fmt: skip
        self.assert_private(self.folder / "work/j.tsv")

    def test_a_recipe(self) -> None:
        recipe = {"format": "gapless.recipe", "schema": 1, "fixes": [{"item": "threads=1"}], "environment": {}}
        (self.folder / "outside").write_text(json.dumps({**recipe, "command": self.command}))
        self.run_it("run", "--recipe", "../outside", "--", "true")
        self.run_it("run", "--recipe", "../outside", "--print", status=1)
        (self.folder / "work/redacted.json").write_text(
            json.dumps({**recipe, "command": ["sh", "ok.sh", "--api-key=<redacted>"]})
        )
        said = self.run_it("run", "--recipe", "redacted.json", status=125)
        self.assertIn("a secret was left out of the command of the recipe", said)
        self.assertIn("--api-key=<redacted>", said)
        self.assertFalse((self.folder / "work/got").exists())
        self.assertNotIn(
            "another command", self.run_it("run", "--recipe", "redacted.json", "--", "sh", "ok.sh", KEY, passed_on=True)
        )

    def test_kept_where_the_user_says_so(self) -> None:
        environment = {**os.environ, "HOME": str(self.folder / "home")}
        words = ["bench", "--runs", "3", "--whole", "--json", "--keep-command", "--", *self.command]
        done = subprocess.run(
            [str(PROGRAM), *words], cwd=self.folder / "work", env=environment, capture_output=True, text=True,
            timeout=LIMIT, check=True,
        )  # fmt: skip
        self.assertIn(KEY, json.loads(done.stdout)["command"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
