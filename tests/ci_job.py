# SPDX-License-Identifier: Apache-2.0
"""Surroundings of a CI job: a repository, a shallow checkout of it, and a host of pull requests. The first argument is the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from corpus import ROOT
from fake_hosts import Host

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
LIMIT = 300  # seconds for one command

# A time like the one given, give or take 1 %: what is measured does not depend on this machine's speed.
SCRIPT = "import random\nprint('took', {} * (1 + random.gauss(0, 0.01)), 'ms')\n"
COMMAND = f"{sys.executable} -S run.py"
PATTERN = "--pattern 'took ([0-9.]+)'"


class Case(unittest.TestCase):
    """A repository `origin`, whose main branch takes 10 ms, and `work`, which is a checkout of it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "home").mkdir()
        (self.folder / "tmp").mkdir()
        self.environment = {
            "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMPDIR": str(self.folder / "tmp"),
            "HOME": str(self.folder / "home"), "no_proxy": "127.0.0.1", "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip
        self.origin, self.work = self.folder / "origin", self.folder / "work"
        self.git(self.folder, "init", "-q", "-b", "main", str(self.origin))
        self.git(self.origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.base = self.commit(10.0)
        self.host = Host()
        self.addCleanup(self.host.close)

    def git(self, folder: Path, *words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
        return subprocess.run(
            command, cwd=folder, env=self.environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, ms: float, note: str = "") -> str:
        (self.origin / "run.py").write_text(SCRIPT.format(ms) + f"# {note}\n")
        self.git(self.origin, "add", ".")
        self.git(self.origin, "commit", "-q", "-m", f"{ms} ms {note}")
        return self.git(self.origin, "rev-parse", "HEAD")

    def checkout(self, name: str) -> str:
        """As actions/checkout does: one commit and nothing else."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.git(self.folder, "init", "-q", "-b", "empty", str(self.work))
        self.git(self.work, "remote", "add", "origin", f"file://{self.origin}")
        self.git(self.work, "fetch", "-q", "--depth=1", "origin", self.git(self.origin, "rev-parse", name))
        self.git(self.work, "checkout", "-q", "--detach", "FETCH_HEAD")
        return self.git(self.work, "rev-parse", "HEAD")
