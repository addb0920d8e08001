#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Summaries of a job's ranks say what its recordings say: the same bytes of report and of JSON; merging them in any order and grouping
gives the same file; what is lost, cut, damaged or newer is named and the others are analysed.

usage: summaries_test.py PROGRAM
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT
from simulator.job import Planted, recordings

sys.path.insert(0, str(ROOT / "tests/rules"))
from recording import Run

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
RANKS, LATE = 6, 4
DLRM = ROOT / "../shared/data/kineto/facebookresearch__param/et_replay/tests/inputs/dlrm_kineto"
Json = dict[str, Any]


def gapless(*arguments: str | Path, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, timeout=120, check=False)


def good(*arguments: str | Path) -> bytes:
    done = gapless(*arguments)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def body(report: bytes) -> list[bytes]:
    """Lines of a report but what differs by intention: how it was read, and that recordings can be opened."""
    return [line for line in report.split(b"\n")[1:] if b"--drill" not in line]


def without_sources(document: Json) -> Json:
    """Leaves out what differs by intention: where each was read from."""
    return {key: value for key, value in document.items() if key not in ("read_stats", "timings")}


class Summaries(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    job: Path  # recordings
    summaries: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.job, cls.summaries = Path(cls.folder.name) / "job", Path(cls.folder.name) / "summaries"
        cls.job.mkdir()
        run = Run()
        run.ranks, _, _ = recordings(Planted("kernels", RANKS, LATE, 1.6))
        run.write(cls.job)
        good("summarize", cls.job, "-o", cls.summaries, "--no-cache")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def setUp(self) -> None:
        here = tempfile.TemporaryDirectory()
        self.addCleanup(here.cleanup)
        self.here = Path(here.name)

    def files(self) -> list[Path]:
        return sorted(self.summaries.iterdir())

    def test_the_report_is_that_of_the_recordings(self) -> None:
        self.assertEqual([file.name for file in self.files()], [f"rank-{rank:05}.gapsum" for rank in range(RANKS)])
        report = good("analyze", self.job, "--no-cache")
        self.assertIn(f"rank {LATE}".encode(), report)
        self.assertEqual(body(good("analyze", self.summaries)), body(report))

    def test_the_json_is_that_of_the_recordings(self) -> None:
        whole = json.loads(good("analyze", self.job, "--no-cache", "--json"))
        light = json.loads(good("analyze", self.summaries, "--json"))
        self.assertEqual(without_sources(light), without_sources(whole))

    def test_a_report_of_real_recordings(self) -> None:
        if not DLRM.is_dir():
            self.skipTest("needs the recordings of ../shared")
        good("summarize", DLRM, "-o", self.here / "s", "--no-cache")
        self.assertEqual(body(good("analyze", self.here / "s")), body(good("analyze", DLRM, "--no-cache")))
        self.assertLess(max(file.stat().st_size for file in (self.here / "s").iterdir()), 256 * 1024)

    def test_summaries_and_recordings_together(self) -> None:
        mixed = [self.files()[0], *sorted(self.job.iterdir())[1:3], *self.files()[3:]]
        self.assertEqual(
            good("analyze", *mixed, "--no-cache").split(b"\n")[1:], good("analyze", self.summaries).split(b"\n")[1:]
        )

    def test_merging_is_associative_commutative_and_idempotent(self) -> None:
        files = self.files()
        good("merge", *files, "-o", self.here / "all.tar")
        expected = (self.here / "all.tar").read_bytes()
        rng = random.Random(1)
        for number in range(6):
            rng.shuffle(files)
            cut = rng.randrange(1, RANKS)
            for part, some in enumerate((files[:cut], files[cut:])):
                good("merge", *some, "-o", self.here / f"{number}-{part}.tar")
            again = [files[0]] if number % 2 else []
            good(
                "merge", self.here / f"{number}-1.tar", *again, self.here / f"{number}-0.tar", "-o", self.here / "x.tar"
            )
            self.assertEqual((self.here / "x.tar").read_bytes(), expected)
        with tarfile.open(self.here / "all.tar") as archive:
            self.assertEqual(len(archive.getnames()), RANKS, "any tar reads it")
        self.assertEqual(
            good("analyze", self.here / "all.tar").split(b"\n")[1:], good("analyze", self.summaries).split(b"\n")[1:]
        )

    def test_what_is_no_whole_summary_is_named_and_left_out(self) -> None:
        cut = self.here / "cut.gapsum"
        cut.write_bytes(self.files()[1].read_bytes()[:-7])
        done = gapless("merge", self.files()[0], cut, self.job / "rank2.json", "-o", self.here / "m.tar", "--json")
        said = json.loads(done.stdout)
        self.assertEqual(said["summaries"], 1)
        self.assertEqual({Path(lost["path"]).name for lost in said["lost"]}, {"cut.gapsum", "rank2.json"})
        self.assertIn(b"cut off", done.stderr)
        self.assertEqual(gapless("merge", cut, "-o", self.here / "n.tar").returncode, 3)
        self.assertFalse((self.here / "n.tar").exists())

    def test_a_lost_rank_is_named_and_not_fatal(self) -> None:
        (self.here / "job").mkdir()
        for file in self.job.iterdir():
            (self.here / "job" / file.name).write_bytes(b"" if file.name == "rank3.json" else file.read_bytes())
        said = json.loads(good("summarize", self.here / "job", "-o", self.here / "s", "--json"))
        self.assertEqual(len(said["summaries"]), RANKS - 1)
        self.assertEqual([Path(lost["path"]).name for lost in said["lost"]], ["rank3.json"])
        report = json.loads(good("analyze", self.here / "s", "--json"))
        self.assertEqual(report["run"]["ranks"], [0, 1, 2, 4, 5])

    def test_a_damaged_member_does_not_take_the_others_along(self) -> None:
        good("merge", self.summaries, "-o", self.here / "all.tar")
        damaged = bytearray((self.here / "all.tar").read_bytes())
        damaged[2000] ^= 0xFF
        (self.here / "bad.tar").write_bytes(damaged)
        done = gapless("analyze", self.here / "bad.tar", "--json")
        self.assertEqual(json.loads(done.stdout)["run"]["ranks"], [1, 2, 3, 4, 5])
        self.assertIn(b"rank-00000", done.stderr + done.stdout)

    def test_a_newer_version_is_refused_with_both_numbers(self) -> None:
        newer = bytearray(self.files()[0].read_bytes())
        newer[8] = 9
        (self.here / "newer.gapsum").write_bytes(newer)
        done = gapless("analyze", self.here / "newer.gapsum")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"version 9", done.stderr)
        self.assertIn(b"up to version 1", done.stderr)

    def test_the_same_recording_gives_the_same_bytes(self) -> None:
        good("summarize", self.job, "-o", self.here / "again", "--no-cache", "-j", "1")
        for file in self.files():
            self.assertEqual((self.here / "again" / file.name).read_bytes(), file.read_bytes())

    def test_through_pipes(self) -> None:
        recording = self.job / "rank1.json"
        done = gapless("summarize", "1=-", "-o", "-", stdin=recording.read_bytes())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        report = gapless("analyze", "-", "--json", stdin=done.stdout)
        self.assertEqual(json.loads(report.stdout)["run"]["ranks"], [1])

    def test_no_row_is_made_up(self) -> None:
        """Rows that stand for others are no rows of SQL, and a summary is no recording to convert."""
        for table, rows in (("slice", 0), ("gpu_op", 0), ("step", 5 * RANKS)):
            said = json.loads(good("query", self.summaries, f"SELECT count(*) AS n FROM {table}", "--json"))
            self.assertEqual(said[0]["n"], rows, table)
        done = gapless("convert", self.summaries, "-o", self.here / "x.json")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"holds no events", done.stderr)

    def test_predictions_are_those_of_the_recordings(self) -> None:
        for what in ("compile", "straggler"):
            whole = json.loads(good("predict", self.job, "--what", what, "--json", "--no-cache"))
            light = json.loads(good("predict", self.summaries, "--what", what, "--json"))
            self.assertEqual(light["predictions"], whole["predictions"], what)

    def test_drilling_opens_the_recordings_that_tell_most(self) -> None:
        rows = json.loads(good("query", self.summaries, "SELECT * FROM exemplars", "--json"))
        self.assertEqual((rows[0]["rank"], rows[0]["why"]), (LATE, "slow"))
        self.assertLessEqual(len(rows), 4)
        self.assertIn(b"--drill", good("analyze", self.summaries))
        drilled = good("analyze", self.summaries, "--drill", "-v", "--no-cache").decode()
        self.assertIn("opened for their events", drilled)
        self.assertIn(f"rank{LATE}.json", drilled)
        whole = json.loads(good("analyze", self.job, "--no-cache", "--json"))
        some = json.loads(good("analyze", self.summaries, "--drill", "--no-cache", "--json"))
        self.assertEqual(some["run"]["ranks"], list(range(RANKS)), "no rank counts twice")
        for part in ("run", "bottlenecks", "breakdown"):
            self.assertEqual(some[part], whole[part], part)
        page = good("analyze", self.summaries, f"--drill={LATE}", "--format", "html", "--no-cache")
        self.assertGreater(len(page), len(good("analyze", self.summaries, "--format", "html")), "with the slowest step")

    def test_recordings_that_are_gone_or_others_are_named(self) -> None:
        (self.here / "job").mkdir()
        for file in self.job.iterdir():
            (self.here / "job" / file.name).write_bytes(file.read_bytes())
        good("summarize", self.here / "job", "-o", self.here / "s", "--no-cache")
        (self.here / "job" / f"rank{LATE}.json").unlink()
        (self.here / "job" / "rank0.json").write_bytes((self.job / "rank1.json").read_bytes())
        done = gapless("analyze", self.here / "s", f"--drill=0,{LATE}", "--json", "--no-cache")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        said = json.loads(done.stdout)
        self.assertEqual(said["run"]["ranks"], list(range(RANKS)))
        messages = {Path(failure["place"]).name: failure["message"] for failure in said["failures"]}
        self.assertIn("not there any more", messages[f"rank{LATE}.json"])
        self.assertIn("is not the recording that was summarised", messages["rank0.json"])
        self.assertEqual(gapless("analyze", self.here / "s", "--drill=77").returncode, 2)

    def test_recordings_that_moved_with_their_summaries_are_found(self) -> None:
        (self.here / "a").mkdir()
        for file in self.job.iterdir():
            (self.here / "a" / file.name).write_bytes(file.read_bytes())
        good("summarize", self.here / "a", "-o", self.here / "a/s", "--no-cache")
        (self.here / "a").rename(self.here / "b")
        said = json.loads(good("analyze", self.here / "b/s", "--drill", "--json", "--no-cache"))
        self.assertEqual(said.get("failures", []), [])

    def test_kernels_of_all_ranks_are_those_of_the_recordings(self) -> None:
        question = "SELECT * FROM job_kernels"
        self.assertEqual(
            good("query", self.summaries, question, "--json"), good("query", self.job, question, "--json", "--no-cache")
        )

    def test_an_input_is_never_replaced(self) -> None:
        file = self.files()[0]
        before = file.read_bytes()
        self.assertEqual(gapless("merge", file, "-o", file).returncode, 2)
        self.assertEqual(file.read_bytes(), before)

    def test_bytes_of_random_damage(self) -> None:
        rng = random.Random(5)
        whole = self.files()[0].read_bytes()
        for number in itertools.islice(itertools.count(), 40):
            bad = bytearray(whole)
            for _ in range(rng.randrange(1, 4)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            file = self.here / f"{number}.gapsum"
            file.write_bytes(bad)
            self.assertIn(gapless("analyze", file).returncode, (0, 3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
