#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gapless.cluster on this machine: the report of a job that was summarised by tasks is, byte for byte, that of its recordings; workers
that are killed are tried again, bad recordings are named, a second call runs no task, and Ctrl-C leaves nothing behind.

usage: cluster_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import cluster_job
from cluster_job import copy_job, forget_tries, has, report_of, stand_in, tries
from corpus import KINETO, ROOT

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
RANKS = cluster_job.RANKS
DLRM = KINETO / "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto"
ENGINES = ("ray", "dask", "distributed", "loky", "submitit", "mpi4py", "fsspec")


class Processes(cluster_job.Case):
    def test_the_report_is_that_of_the_recordings(self) -> None:
        report = cluster.analyze(self.job)
        self.assertEqual(cluster_job.as_of_recordings(report.text).encode(), report_of(PROGRAM, self.job, "--no-cache"))
        self.assertEqual((report.ranks, report.lost), (list(range(RANKS)), {}))
        self.assertEqual(report.bottlenecks[0].id, json.loads(report.json)["bottlenecks"][0]["id"])
        self.assertIn("<html", report.html)

    def test_a_report_of_real_recordings(self) -> None:
        if not DLRM.is_dir():
            self.skipTest(f"no recordings in {DLRM}")
        report = cluster.analyze(DLRM, summaries=self.here / "s")
        self.assertEqual(cluster_job.as_of_recordings(report.text).encode(), report_of(PROGRAM, DLRM, "--no-cache"))
        self.assertLess(max(summary.bytes for summary in report.summarized), 256 * 1024)
        self.assertEqual(report.summarized.summaries[3].bytes_read, sorted(DLRM.iterdir())[3].stat().st_size)

    def test_a_second_call_runs_no_task(self) -> None:
        self.with_program(stand_in(PROGRAM, self.here, 0, ":"))
        first = cluster.analyze(self.job, summaries=self.here / "s")
        self.assertEqual((tries(self.here), first.summarized.made), (RANKS, RANKS))
        forget_tries(self.here)
        calls: list[tuple[int, int]] = []
        second = cluster.analyze(self.job, summaries=self.here / "s", progress=lambda *at: calls.append(at))
        self.assertEqual((tries(self.here), second.summarized.made, calls), (0, 0, [(RANKS, RANKS)]))
        self.assertEqual(second.text, first.text)
        self.assertEqual(
            [(one.rank, one.digest) for one in second.summarized], [(one.rank, one.digest) for one in first.summarized]
        )

    def test_what_changed_is_made_again_and_replaces_what_it_was(self) -> None:
        job = copy_job(self.job, self.here / "job")
        cluster.summarize(job, summaries=self.here / "s")
        os.utime(job / "rank2.json", ns=(1, 1))
        (cut,) = (self.here / "s").glob("rank-00004-*")
        cut.write_bytes(cut.read_bytes()[:-1])
        self.with_program(stand_in(PROGRAM, self.here, 0, ":"))
        done = cluster.summarize(job, summaries=self.here / "s")
        self.assertEqual([one.rank for one in done if one.made], [2, 4])
        self.assertEqual(tries(self.here), 2)
        self.assertEqual(len(list((self.here / "s").iterdir())), RANKS)

    def test_a_bad_recording_is_named_and_not_tried_again(self) -> None:
        job = copy_job(self.job, self.here / "job")
        (job / "rank3.json").write_text(cluster_job.BAD)
        self.with_program(stand_in(PROGRAM, self.here, 0, ":"))
        report = cluster.analyze(job)
        self.assertEqual(list(report.lost), [str(job / "rank3.json")])
        self.assertEqual(tries(self.here, 3), 1)
        self.assertEqual(cluster_job.as_of_recordings(report.text).encode(), report_of(PROGRAM, job, "--no-cache"))
        self.assertEqual(json.loads(report.json), json.loads(report_of(PROGRAM, job, "--no-cache", "--json")))

    def test_only_bad_recordings_are_an_error(self) -> None:
        (self.here / "rank0.json").write_text(cluster_job.BAD)
        with self.assertRaisesRegex(ProgramError, "no recording could be read; .*rank0.json") as caught:
            cluster.analyze(self.here / "rank0.json")
        self.assertEqual(caught.exception.status, 3)
        self.assertEqual(len(cluster.summarize(self.here / "rank0.json", summaries=self.here / "s").lost), 1)

    def test_a_killed_program_is_tried_again(self) -> None:
        self.with_program(stand_in(PROGRAM, self.here, 2, "kill -9 $$", times=2))
        self.assertEqual(cluster.analyze(self.job).lost, {})
        self.assertEqual((tries(self.here, 2), tries(self.here)), (3, RANKS + 2))

    def test_one_that_dies_every_time_is_lost_with_its_tries(self) -> None:
        self.with_program(stand_in(PROGRAM, self.here, 2, "kill -9 $$", times=99))
        report = cluster.analyze(self.job, retries=1)
        self.assertEqual(
            report.lost, {str(self.job / "rank2.json"): "gapless summarize was ended by signal 9 (tried 2 times)"}
        )
        self.assertEqual(report.ranks, [0, 1, 3, 4, 5])

    def test_ctrl_c_ends_everything_and_leaves_nothing_half_written(self) -> None:
        program = stand_in(PROGRAM, self.here, 3, f"echo $$ > '{self.here}/hangs'; exec sleep 60")
        code = f"from gapless import cluster; cluster.analyze({str(self.job)!r}, summaries={str(self.here / 's')!r})"
        process = subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "GAPLESS_PROGRAM": program, "TMPDIR": str(self.here)},
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.wait_for(lambda: (self.here / "hangs").exists() and len(list((self.here / "s").glob("rank-*"))) >= 3)
        hanging = int((self.here / "hangs").read_text())
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        self.assertLess(time.monotonic() - began, 3)
        self.assertIn(b"KeyboardInterrupt", said)
        self.assertFalse(Path(f"/proc/{hanging}").exists())
        left = sorted(path.name for path in (self.here / "s").iterdir())
        self.assertTrue(all(name.endswith(".gapsum") for name in left), left)
        self.assertEqual([path.name for path in self.here.glob("gapless-*")], ["gapless-stand-in"])
        self.assertEqual(cluster.analyze(self.job, summaries=self.here / "s").summarized.made, RANKS - len(left))

    def test_run_folders_and_archives_are_one_task_each(self) -> None:
        subprocess.run(["tar", "-C", self.job, "-cf", self.here / "job.tar", "."], check=True)
        report = cluster.analyze(self.here / "job.tar", summaries=self.here / "s")
        self.assertEqual(report.ranks, list(range(RANKS)))
        self.assertEqual(len(report.summarized), 1)
        self.assertEqual(cluster.analyze(self.here / "job.tar", summaries=self.here / "s").summarized.made, 0)

    def test_patterns_lists_and_given_ranks(self) -> None:
        self.assertEqual(cluster.analyze(str(self.job / "rank[1-3].json")).ranks, [1, 2, 3])
        self.assertEqual(cluster.analyze([self.job / "rank1.json", self.job / "rank4.json"]).ranks, [1, 4])
        self.assertEqual(cluster.analyze(f"17={self.job / 'rank1.json'}").ranks, [17])
        with self.assertRaisesRegex(ProgramError, "nothing is called"):
            cluster.analyze(str(self.job / "x*.json"))

    def test_merging_gives_one_file_that_says_the_same(self) -> None:
        done = cluster.summarize(self.job, summaries=self.here / "s")
        self.assertEqual(cluster.merge(done, output=self.here / "job.tar"), str(self.here / "job.tar"))
        self.assertEqual(report_of(PROGRAM, self.here / "job.tar"), cluster.analyze(self.job).text.encode())

    def wait_for(self, condition: Any) -> None:
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end, "never came")
            time.sleep(0.02)


class Executors(cluster_job.Case):
    def test_a_pool_whose_worker_is_killed_is_made_anew(self) -> None:
        self.with_program(stand_in(PROGRAM, self.here, 2, "kill -9 $PPID; exit 9"))
        report = cluster.analyze(self.job, on=ProcessPoolExecutor(2))
        self.assertEqual((report.lost, report.ranks), ({}, list(range(RANKS))))
        self.assertEqual(tries(self.here, 2), 2)

    def test_one_that_kills_its_worker_every_time_takes_no_other_along(self) -> None:
        self.with_program(stand_in(PROGRAM, self.here, 2, "kill -9 $PPID; exit 9", times=99))
        report = cluster.analyze(self.job, on=lambda: ProcessPoolExecutor(2), retries=1)
        self.assertEqual(report.lost, {str(self.job / "rank2.json"): "its worker died (tried 2 times)"})

    def test_threads_of_the_caller_stay_the_callers(self) -> None:
        with ThreadPoolExecutor(2) as threads:
            self.assertEqual(cluster.analyze(self.job, on=threads).ranks, list(range(RANKS)))
            self.assertEqual(threads.submit(lambda: 5).result(), 5)

    @unittest.skipUnless(has("loky"), "not installed: loky")
    def test_loky(self) -> None:
        import loky

        self.with_program(stand_in(PROGRAM, self.here, 2, "kill -9 $PPID; exit 9"))
        report = cluster.analyze(self.job, on=loky.get_reusable_executor(max_workers=2))
        self.assertEqual(cluster_job.as_of_recordings(report.text).encode(), report_of(PROGRAM, self.job, "--no-cache"))
        self.assertEqual(tries(self.here, 2), 2)
        loky.get_reusable_executor().shutdown(kill_workers=True)

    def test_what_a_worker_lacks_is_an_error_and_no_loss(self) -> None:
        nowhere = mock.patch("gapless.cluster.task.find_program", lambda: None)
        with nowhere, self.assertRaisesRegex(ProgramError, "cannot find the program"):
            cluster.analyze(self.job)

    def test_nothing_is_imported_or_started_that_was_not_asked_for(self) -> None:
        code = f"import sys; from gapless import cluster; print(sorted(set({ENGINES}) & set(sys.modules)))\n"
        code += f"cluster.analyze({str(self.job)!r}); print(sorted(set({ENGINES}) & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n[]\n")

    def test_ray_is_not_started_behind_ones_back(self) -> None:
        with self.assertRaisesRegex(ProgramError, r"ray\.init\(\)|pip install"):
            cluster.analyze(self.job, on="ray")
        with self.assertRaisesRegex(ValueError, "there is no engine 'spark'"):
            cluster.analyze(self.job, on="spark")
        with self.assertRaisesRegex(TypeError, "int is no Executor"):
            cluster.analyze(self.job, on=3)  # type: ignore[arg-type]


class CommandLine(cluster_job.Case):
    def run_it(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, *map(str, words)], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
        )  # fmt: skip

    def test_analyze_says_what_it_says_of_the_recordings(self) -> None:
        job = copy_job(self.job, self.here / "job")
        (job / "rank3.json").write_text(cluster_job.BAD)
        for words in ([], ["--json"], ["--format", "markdown"], ["--explain", "straggler"]):
            told = self.run_it("analyze", "--on", "processes", job, *words, TMPDIR=str(self.here))
            self.assertEqual(
                (told.returncode, cluster_job.as_of_recordings(told.stdout)),
                (0, report_of(PROGRAM, job, "--no-cache", *words).decode()),
            )
        self.assertEqual(list(self.here.glob("gapless*")), [])

    def test_summaries_stay_where_they_are_wanted(self) -> None:
        first = self.run_it("analyze", self.job, "--summaries", self.here / "s")
        self.assertEqual(len(list((self.here / "s").glob("*.gapsum"))), RANKS)
        self.with_program(stand_in(PROGRAM, self.here, 0, ":"))
        again = self.run_it("summarize", self.job, "--on", "processes", "-o", self.here / "s", "--json")
        self.assertEqual(len(json.loads(again.stdout)["summaries"]), RANKS)
        self.assertEqual(tries(self.here), 0)
        self.assertEqual(report_of(PROGRAM, self.here / "s").decode(), first.stdout)

    @unittest.skipUnless(has("fsspec"), "not installed: fsspec")
    def test_every_verb_that_reads_takes_urls(self) -> None:
        for verb, words in (("brief", []), ("query", ["SELECT count(*) FROM step"])):
            here = self.run_it(verb, self.job, *words, "--no-cache").stdout
            there = self.run_it(verb, f"file://{self.job}", *words, GAPLESS_PYTHON=sys.executable)
            self.assertEqual((there.returncode, there.stdout.replace("file://", "")), (0, here), there.stderr)

    def test_what_is_missing_is_said(self) -> None:
        bare = self.run_it("analyze", "s3://runs/42/", PYTHONPATH="", GAPLESS_PYTHON="/usr/bin/python3")
        self.assertEqual((bare.returncode, bare.stdout), (4, ""))
        self.assertRegex(bare.stderr, r"^gapless: .* pip install")
        none = self.run_it("analyze", "s3://runs/42/", GAPLESS_PYTHON="/no/python")
        self.assertEqual(none.returncode, 4)
        self.assertIn("cannot start /no/python", none.stderr)
        error = self.run_it("analyze", "--on", "ray", self.job, "--json")
        self.assertEqual((error.returncode, json.loads(error.stdout)["error"]["code"]), (4, "environment"))

    def test_a_name_for_what_comes_through_a_pipe(self) -> None:
        done = subprocess.run(
            [PROGRAM, "summarize", "-", "--name", "s3://runs/rank4.json", "-o", self.here / "s", "--json"],
            input=(self.job / "rank4.json").read_bytes(), capture_output=True, check=True,
        )  # fmt: skip
        self.assertEqual(json.loads(done.stdout)["summaries"][0]["recording"], "s3://runs/rank4.json")

    def test_ctrl_c(self) -> None:
        program = stand_in(PROGRAM, self.here, 3, "exec sleep 60")
        process = subprocess.Popen(
            [PROGRAM, "analyze", "--on", "processes", self.job], stderr=subprocess.PIPE,
            env={**os.environ, "GAPLESS_PROGRAM": program, "TMPDIR": str(self.here)},
        )  # fmt: skip
        while tries(self.here, 3) == 0:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        end = time.monotonic() + 5
        while (left := list(self.here.glob("gapless-*/*"))) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(left, [])


if __name__ == "__main__":
    cluster_job.in_its_environment()
    cluster_job.use(PROGRAM)

from gapless import cluster
from gapless.program import ProgramError

if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
