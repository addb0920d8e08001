#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless profile` leaves a summary of each recording, which says what the recordings say; with --summary-only nothing else of
them, but for what has no summary and what is not ours.

usage: profile_summaries_test.py PROGRAM    needs no PyTorch: a program plays the agents of a job of four ranks
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

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
PYTHON = Path(os.environ.get("GAPLESS_TORCH", ROOT / "build/torch/bin/python"))
RANKS, LATE = 4, 2
Json = dict[str, Any]

# Plays the agents: for each rank a ring that names a recording of the profiler, and that recording. A damaged one, a file
# of the user and one that the profiler did not write lie there, too.
PLAYS = f"""
import os, struct, sys, tempfile
from pathlib import Path
sys.path[:0] = [{str(ROOT / "tests")!r}, {str(ROOT / "tests/rules")!r}]
from recording import Agent, Run, layout
from simulator.job import Planted, recordings

run = Run()
run.ranks, _, _ = recordings(Planted("kernels", {RANKS}, {LATE}, 1.6))
home = Path(os.environ["GAPLESS_RUN"])
with tempfile.TemporaryDirectory() as made:
    run.write(Path(made))
    for rank in range({RANKS}):
        folder = home / f"rank{{rank}}"
        folder.mkdir(mode=0o700)
        name = "host.1.pt.trace.json"
        damaged = "damaged" in sys.argv and rank == 1
        (folder / name).write_bytes(b"{{" if damaged else (Path(made) / f"rank{{rank}}.json").read_bytes())
        if "mine" in sys.argv:
            (folder / "mine.pt.trace.json").write_bytes((folder / name).read_bytes())
            (folder / "agent-notes.events").write_text("my own")
        agent = Agent(rank)
        for start in agent.steps(8, 4000, 500):
            agent.garbage(start + 100, 300)
        agent._add(layout.KIND_RECORDER, 40000, value=4, a=agent._text(name))
        agent.write(Path(made) / "ring")
        ring = bytearray((Path(made) / "ring").read_bytes())
        struct.pack_into("<I", ring, 20, 256)  # its capacity
        struct.pack_into("<q", ring, 24, 1)  # as in the recording
        struct.pack_into("<Q", ring, 72, 8)  # steps
        struct.pack_into("<Q", ring, 120, int(os.environ.get("GAPLESS_LAUNCHER", "0")))
        part = folder / "part"
        part.write_bytes(ring.ljust(4096 + 256 * 64, b"\\0"))
        part.rename(folder / "agent-1.ring")
sys.exit(7 if "fails" in sys.argv else 0)
"""

TRAINS = """
import torch
net = torch.nn.Linear(4, 1); optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(30):
    net(torch.randn(8, 4)).sum().backward(); optimizer.step()
"""


class ProfileSummaries(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS", "SLURM", "PMI"))}
        self.environment = {**kept, "XDG_CACHE_HOME": str(self.here / "cache"), "LC_ALL": "C.UTF-8"}
        (self.here / "plays.py").write_text(PLAYS, encoding="utf-8")

    def gapless(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, *map(str, words)], cwd=self.here, env=self.environment, text=True, capture_output=True,
            timeout=120, check=False,
        )  # fmt: skip

    def profile(self, *options: str, words: tuple[str, ...] = (), status: int = 0) -> str:
        done = self.gapless("profile", "--hz", 0, "-o", "run", *options, "--", sys.executable, "plays.py", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def files(self) -> set[str]:
        """Returns the names in the run, without those that gapless puts into the processes."""
        run = self.here / "run"
        found = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
        return {name for name in found if name.startswith("rank")}

    def summaries(self) -> list[Path]:
        return sorted((self.here / "run/summaries").glob("*"))

    def report(self, *paths: object) -> str:
        done = self.gapless("analyze", *(paths or ("run",)), "--no-cache")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.replace(f"{self.here}/", "").split("\n")[1:]
        return "\n".join(line for line in lines if "--drill" not in line)

    def ranks(self) -> list[int]:
        done = self.gapless("analyze", "run", "--json")
        found: list[int] = json.loads(done.stdout)["run"]["ranks"]
        return found

    def test_each_recording_gets_a_summary_beside_it(self) -> None:
        said = self.profile()
        names = [path.name for path in self.summaries()]
        self.assertEqual(names[::2], [f"rank-{rank:05}-2.gapsum" for rank in range(RANKS)])
        self.assertEqual(len(names), 2 * RANKS, "one of the profiler's recording, one of the agent's")
        self.assertIn("run/summaries: 8 summaries", said)
        self.assertEqual(len(self.files()), 2 * RANKS)
        self.assertTrue(all(path.stat().st_mode & 0o077 == 0 for path in self.summaries()), "for their owner only")

    def test_a_rank_counts_once(self) -> None:
        self.profile()
        done = self.gapless("query", "run", "SELECT format, count(*) AS n FROM trace GROUP BY format", "--json")
        self.assertEqual({row["format"]: row["n"] for row in json.loads(done.stdout)}, {"agent": 4, "kineto": 4})
        both = self.gapless("query", "run", "SELECT count(*) AS n FROM gpu_op", "--json")
        self.assertGreater(json.loads(both.stdout)[0]["n"], 0, "the recordings are read where they are")

    def test_only_summaries_stay_and_say_the_same(self) -> None:
        self.profile()
        whole = self.report()
        (self.here / "run").rename(self.here / "whole")
        said = self.profile("--summary-only")
        self.assertIn("8 recordings removed", said)
        self.assertEqual(self.files(), set())
        self.assertEqual(len(self.summaries()), 2 * RANKS)
        self.assertEqual(self.ranks(), list(range(RANKS)))
        light = self.report()
        self.assertIn(f"rank {LATE}", light)
        self.assertEqual(light, whole)

    def test_what_has_no_summary_stays_and_is_named(self) -> None:
        said = self.profile("--summary-only", words=("damaged",))
        self.assertEqual(self.files(), {"rank1/host.1.pt.trace.json"})
        self.assertIn("rank1/host.1.pt.trace.json, which stays", said)

    def test_files_of_the_user_stay(self) -> None:
        self.profile("--summary-only", words=("mine",))
        mine = {f"rank{rank}/{name}" for rank in range(RANKS) for name in ("mine.pt.trace.json", "agent-notes.events")}
        self.assertEqual(self.files(), mine)

    def test_the_document_names_what_is_there(self) -> None:
        done = self.gapless("profile", "--summary-only", "--json", "--", sys.executable, "plays.py")
        said = json.loads(done.stdout)
        self.assertEqual(said["recordings"], [])
        self.assertEqual(len(said["summaries"]), 2 * RANKS)
        for name in said["summaries"]:
            self.assertTrue((self.here / "run" / name).is_file(), name)

    def test_none_are_written_where_none_are_wanted(self) -> None:
        self.profile("--no-summary")
        self.assertFalse((self.here / "run/summaries").exists())
        self.assertEqual(self.gapless("profile", "--no-summary", "--summary-only", "--", "true").returncode, 125)

    def test_the_commands_own_status_stays(self) -> None:
        self.profile("--summary-only", words=("fails",), status=7)
        self.assertEqual(len(self.summaries()), 2 * RANKS)

    def test_without_a_recording_there_is_no_summary(self) -> None:
        done = self.gapless("profile", "-o", "run", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertFalse((self.here / "run/summaries").exists())

    @unittest.skipUnless(PYTHON.exists(), "needs PyTorch: tools/torch_env.sh")
    def test_of_a_training_with_pytorch(self) -> None:
        (self.here / "train.py").write_text(TRAINS, encoding="utf-8")
        done = self.gapless("profile", "--summary-only", "-o", "run", "--", PYTHON, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), set())
        self.assertIn("steps", self.report())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
