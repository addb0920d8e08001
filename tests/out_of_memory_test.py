#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command that runs out of memory, or of threads, says so and ends with status 4, whichever of its threads finds out.

usage: out_of_memory_test.py PROGRAM
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from corpus import ROOT
from hostile_shapes import write_recording

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
MIB = 1 << 20
LIMIT_S = 120
THREADS = 4  # more than the machine may have, so that pools have several


class OutOfMemory(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        write_recording("steps", 30_000, cls.folder / "steps.json")
        for copy in range(6):
            write_recording("waits", 4_000, cls.folder / f"rank{copy}.json")
        packed = ["gzip", "--keep", "--fast", str(cls.folder / "steps.json")]
        subprocess.run(packed, check=True)

    def run_within(
        self, words: list[str], limit: int, kind: int = resource.RLIMIT_AS
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "GAPLESS_THREADS": str(THREADS), "XDG_CACHE_HOME": str(self.folder / "cache")}
        return subprocess.run(
            [PROGRAM, *words], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S,
            preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)), check=False,
        )  # fmt: skip

    def expect_an_answer(self, words: list[str], mib: int) -> int:
        with self.subTest(" ".join(words), mib=mib):
            ended = self.run_within(words, mib * MIB)
            self.assertIn(ended.returncode, (0, 4), ended.stderr)
            if ended.returncode == 4:
                self.assertIn("out of memory", ended.stderr)
            if ended.returncode == 4 and "--json" in words:
                self.assertEqual(json.loads(ended.stdout)["error"]["message"], "out of memory")
            left = [file.name for file in self.folder.rglob("*") if ".part-" in file.name]
            self.assertEqual(left, [])
            return ended.returncode
        return -1

    def test_every_reading_command_under_a_ladder_of_limits(self) -> None:
        ranks = [f"rank{copy}.json" for copy in range(6)]
        commands = [
            ["analyze", "steps.json", "--no-cache"],
            ["analyze", "steps.json.gz", "--no-cache", "--json"],
            ["analyze", "steps.json", "-o", "report.html"],
            ["analyze", *ranks, "--no-cache"],
            ["query", "steps.json", "SELECT count(*), sum(dur_ns) FROM idle", "--no-cache"],
            [
                "query",
                "steps.json",
                "SELECT a.name, count(*) FROM slice a GROUP BY a.name, a.id ORDER BY 2",
                "--no-cache",
            ],
            ["convert", "steps.json", "-o", "out.json", "--no-cache"],
            ["convert", "steps.json", "-o", "out.json.zst", "--no-cache"],
            ["predict", "steps.json", "--what", "kernels=0.5", "--no-cache"],
        ]
        statuses = [self.expect_an_answer(words, mib) for words in commands for mib in (24, 40, 64, 96, 144, 208, 320)]
        self.assertIn(4, statuses)

    def test_without_more_threads(self) -> None:
        plain = self.run_within(["query", "steps.json", "SELECT count(*) FROM slice", "--no-cache"], 1 << 40)
        for mib in (32, 48, 64):  # the stack of a thread is 8 MiB
            fewer = self.run_within(["query", "steps.json", "SELECT count(*) FROM slice", "--no-cache"], mib * MIB)
            if fewer.returncode == 0:
                self.assertEqual(fewer.stdout, plain.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
