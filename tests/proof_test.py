#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless bench`, `compare`, `validate` and `bisect` on commands without PyTorch: verdicts, exit statuses, JSON, what fails, what is left.

usage: proof_test.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from typing import Any

from proof_case import PROGRAM, Case, noisy


class Compare(Case):
    def compare(self, a: float, b: float, *options: str, status: int) -> dict[str, Any]:
        command = ["compare", "--json", "--pattern", "took ([0-9.]+)", "--seed", "3", *options]
        return self.json(*command, "--", *noisy(a), "--", *noisy(b), status=status)

    def test_faster(self) -> None:
        found = self.compare(10, 8, status=0)
        self.assertEqual(found["verdict"], "faster")
        self.assertTrue(found["speedup"]["low"] < 1.25 < found["speedup"]["high"])
        self.assertLess(found["p_value"], 0.05)
        self.assertTrue(found["statistically_significant"])
        self.assertEqual(found["pairs"], len(found["log_ratios"]))
        self.assertEqual(found["source"], "pattern")

    def test_slower(self) -> None:
        self.assertEqual(self.compare(10, 11, status=1)["verdict"], "slower")
        self.assertEqual(self.compare(10, 11, "--higher-is-better", status=0)["verdict"], "faster")

    def test_equivalent(self) -> None:
        found = self.compare(10, 10, "--margin", "4%", status=1)
        self.assertEqual(found["verdict"], "equivalent")

    def test_cannot_tell(self) -> None:
        found = self.compare(10, 10.01, "--pairs", "4", status=1)
        self.assertEqual((found["verdict"], found["pairs"]), ("cannot_tell", 4))
        self.assertNotIn("low", found["speedup"])
        self.assertNotIn("mde_share", found, "four pairs decide nothing, however large the change is")
        found = self.compare(10, 10.01, "--pairs", "9", status=1)
        self.assertTrue(0 < found["mde_share"] < 0.1, found["mde_share"])

    def test_a_command_that_fails(self) -> None:
        done = self.gapless("compare", "--a", "echo broken; exit 3", "--b", "true")
        self.assertEqual(done.returncode, 5)
        self.assertIn("exit status 3", done.stderr)
        self.assertIn("broken", done.stderr)

    def test_commands_that_are_missing(self) -> None:
        for words in (
            ["compare"],
            ["compare", "--", "true"],
            ["compare", "--", "true", "--"],
            ["compare", "--a", "true"],
        ):
            self.assertEqual(self.gapless(*words).returncode, 2, words)
        self.assertEqual(self.gapless("compare", "--margin", "200%", "--", "true", "--", "true").returncode, 2)

    def test_text(self) -> None:
        done = self.gapless("compare", "--pattern", "took ([0-9.]+)", "--", *noisy(10), "--", *noisy(8))
        self.assertRegex(
            done.stdout, r"^B is faster: 1\.2\d+× as fast as A \(95 % interval 1\.\d+× to 1\.\d+×\), after \d+ pairs\n"
        )
        self.assertIn("nominal", done.stdout)

    def interrupted(self, *words: str) -> tuple[int, str, str]:
        """Runs the words and a script that takes 50 ms, and interrupts it behind the warm-up and three pairs at least."""
        runs = self.work / "runs"
        runs.unlink(missing_ok=True)
        script = self.work / "slow.py"
        script.write_text("import os, time\ntime.sleep(0.05)\nopen(os.environ['RUNS'], 'a').write('.')\n")
        command = [sys.executable, "-S", str(script)]
        with subprocess.Popen(
            [PROGRAM, *words, "--", *command, "--", *command], cwd=self.work, text=True,
            env={**self.environment, "RUNS": str(runs)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            until = time.monotonic() + 60
            while time.monotonic() < until and not (runs.exists() and runs.stat().st_size > 16):
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def test_an_interrupted_comparison_says_what_is_known(self) -> None:
        words = ("compare", "--whole", "--no-same", "--pairs", "10000", "--margin", "0.0001%")
        status, out, err = self.interrupted(*words)
        self.assertEqual(status, 128 + signal.SIGINT, err)
        self.assertRegex(out, "^interrupted after [0-9]+ pairs?, which show:\n")
        self.assertIn("as fast as A", out)
        status, out, err = self.interrupted(*words, "--json")
        self.assertEqual(status, 128 + signal.SIGINT, err)
        found = json.loads(out)
        self.assertTrue(found["interrupted"])
        self.assertGreater(found["pairs"], 0)


class Bench(Case):
    def test_whole_processes(self) -> None:
        found = self.json("bench", "--json", "--runs", "3", "--", "sh", "-c", "sleep 0.1")
        self.assertEqual((found["source"], found["processes"], len(found["steps"])), ("process", 3, 3))
        self.assertGreater(found["metrics"]["step_time_ms"], 100)
        self.assertIn("cpu", found["environment"])

    def test_numbers_that_are_printed(self) -> None:
        found = self.json(
            "bench", "--json", "--warmup", "2", "--pattern", "v=([0-9]+)", "--", "sh", "-c", "echo v=9 v=9 v=1 v=2 v=3"
        )
        self.assertEqual(found["metrics"]["step_time_p50_ms"], 2)
        self.assertEqual(found["warmup"], 2)

    def test_latencies_that_are_printed(self) -> None:
        program = "for i in range(130): print('latency', 1 + i % 10, 'ms')"
        found = self.json(
            "bench", "--json", "--inference", "--pattern", "latency ([0-9.]+)", "--", sys.executable, "-S", "-c", program
        )  # fmt: skip
        self.assertEqual(found["requests"], 120)
        metrics = found["metrics"]
        self.assertEqual([metrics[f"latency_{p}_ms"] for p in ("p50", "p95", "p99")], [5.5, 10, 10])
        self.assertNotIn("tokens_per_second", metrics)

    def test_requests_need_a_model(self) -> None:
        self.assertEqual(self.gapless("bench", "--inference", "--", "true").returncode, 5)
        self.assertEqual(self.gapless("bench", "--inference", "--runs", "3", "--", "true").returncode, 2)

    def test_processors(self) -> None:
        """The program may run on one processor; what is not there is refused."""
        cpu = str(min(os.sched_getaffinity(0)))
        program = "import os; print('on', len(os.sched_getaffinity(0)))"
        command = ["--pattern", "on ([0-9]+)", "--", sys.executable, "-S", "-c", program]
        self.assertEqual(self.json("bench", "--json", "--pin", cpu, *command)["metrics"]["step_time_ms"], 1)
        self.assertEqual(self.gapless("bench", "--pin", "1023", *command).returncode, 4)
        for wrong in ("x", "3-1", "-1", "", "1,"):
            self.assertEqual(self.gapless("bench", f"--pin={wrong}", *command).returncode, 2, wrong)

    def test_what_fails(self) -> None:
        self.assertEqual(self.gapless("bench").returncode, 2)
        self.assertEqual(self.gapless("bench", "--", "false").returncode, 5)
        self.assertEqual(self.gapless("bench", "--", "/nowhere/at-all").returncode, 5)
        self.assertEqual(self.gapless("bench", "--pattern", "none", "--", "true").returncode, 5)
        self.assertEqual(self.gapless("bench", "--scaling", "1,x", "--", "python3", "t.py").returncode, 2)
        self.assertEqual(self.gapless("bench", "--scaling", "1,2", "--", "./run").returncode, 2)
        self.assertEqual(self.gapless("tune", "scaling", "--batch", "8", "--", "./run", "{n}").returncode, 2)
        self.assertEqual(self.gapless("tune", "scaling", "--", "./run", "{n}", "{batch}").returncode, 2)
        uneven = self.gapless("tune", "scaling", "--batch", "8", "--ranks", "1,3", "--", "./run", "{n}", "{batch}")
        self.assertEqual(uneven.returncode, 2)
        self.assertIn("cannot be divided evenly by 3 ranks", uneven.stderr)
        self.assertEqual(self.gapless("predict", "run", "--per-node", "8").returncode, 2)
        self.assertEqual(self.gapless("predict", "run", "--scale", "2000").returncode, 2)
        self.assertEqual(self.gapless("predict", "run", "--scale", "2", "--link", "-1").returncode, 2)

    def test_a_time_limit(self) -> None:
        done = self.gapless("bench", "--timeout", "0.5", "--", "sleep", "30")
        self.assertEqual(done.returncode, 5)
        self.assertIn("did not end in time", done.stderr)


class Bisect(Case):
    def setUp(self) -> None:
        super().setUp()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
        return subprocess.run(command, cwd=self.work, check=True, capture_output=True, text=True).stdout.strip()

    def commits(self, count: int, bad: int, unbuildable: tuple[int, ...] = ()) -> None:
        for number in range(count):
            ms = 11.0 if number >= bad else 10.0
            (self.work / "run.py").write_text(
                f"import random\nprint('took', {ms} * (1 + random.gauss(0, 0.02)))\n# {number}\n"
            )
            (self.work / "build.sh").write_text("exit 1\n" if number in unbuildable else "touch built\n")
            self.git("add", ".")
            self.git("commit", "-q", "-m", f"change {number}")

    def bisect(self, *options: str, status: int = 0) -> dict[str, Any]:
        command = [
            "bisect",
            "--json",
            "-q",
            "--good",
            "HEAD~11",
            "--bad",
            "HEAD",
            "--pattern",
            "took ([0-9.]+)",
            *options,
        ]
        return self.json(*command, "--", sys.executable, "-S", "run.py", status=status)

    def test_finds_the_commit(self) -> None:
        self.commits(12, bad=7)
        found = self.bisect("--build", "sh build.sh")
        self.assertEqual((found["result"], found["subject"]), ("found", "change 7"))
        self.assertGreater(found["probability"], 0.98)
        self.assertAlmostEqual(found["time_ratio"], 1.1, delta=0.05)
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.bisect("--build", "sh build.sh")["runs"], found["runs"], "what was run is run again")

    def test_goes_on_after_an_interruption(self) -> None:
        self.commits(12, bad=4)
        journal = self.folder / "journal.tsv"
        self.assertEqual(self.bisect("--journal", str(journal), "--runs", "8", status=1)["result"], "cannot_tell")
        journal.write_text(journal.read_text() + "torn")
        found = self.bisect("--journal", str(journal))
        self.assertEqual(found["subject"], "change 4")
        self.assertEqual(found["runs"], journal.read_text().count("\n") - 1)

    def test_commits_that_cannot_be_built(self) -> None:
        self.commits(12, bad=7, unbuildable=(6, 7, 8))
        found = self.bisect("--build", "sh build.sh")
        self.assertEqual((found["result"], found["subject"]), ("found", "change 9"))
        self.assertEqual(found["first_possible"], self.git("rev-parse", "HEAD~5"))

    def test_no_regression(self) -> None:
        self.commits(12, bad=99)
        self.assertEqual(self.bisect("--effect", "5%", status=1)["result"], "no_regression")

    def test_what_fails(self) -> None:
        self.commits(12, bad=99)
        for words in (
            ["--good", "HEAD"],
            ["--good", "HEAD", "--bad", "HEAD~3"],
            ["--good", "nowhere", "--bad", "HEAD"],
        ):
            done = self.gapless("bisect", *words, "--", "true")
            self.assertIn(done.returncode, (2, 3), done.stderr)


class Ratios(Case):
    """Pairs that were measured elsewhere."""

    def test_verdicts(self) -> None:
        (self.work / "faster.json").write_text(json.dumps([-0.1 + 0.001 * (i % 3) for i in range(12)]))
        (self.work / "open.txt").write_text("0.1\n-0.2\n0.15\n")
        found = self.json("compare", "--json", "--ratios", "faster.json")
        self.assertEqual((found["verdict"], found["pairs"]), ("faster", 12))
        self.assertAlmostEqual(found["speedup"]["expected"], 1.104, delta=0.002)
        self.assertEqual(self.json("compare", "--json", "--ratios", "open.txt", status=1)["verdict"], "cannot_tell")
        self.assertEqual(self.gapless("compare", "--ratios", "none.txt").returncode, 3)


class Validate(Case):
    def validate(self, *words: str, status: int) -> dict[str, Any]:
        start = ["validate", "--json", "--pattern", "took ([0-9.]+)", "--seed", "3", "--db", f"sqlite:{self.folder}/db"]
        return self.json(*start, *words, status=status)

    def test_an_optimisation(self) -> None:
        found = self.validate("-o", "validation_report.json", "--", *noisy(10), "--", *noisy(8), status=0)
        self.assertTrue(found["accepted"])
        self.assertEqual((found["verdict"], found["recorded_run"]), ("faster", 1))
        self.assertEqual(found["regression"]["verdict"], "cannot_tell")  # there is no history yet
        self.assertEqual(json.loads((self.work / "validation_report.json").read_text()), found)

    def test_none(self) -> None:
        found = self.validate("--no-record", "--", *noisy(10), "--", *noisy(11), status=1)
        self.assertEqual((found["accepted"], found["reasons_against"]), (False, ["it is slower"]))
        self.assertNotIn("recorded_run", found)

    def test_what_is_refused_is_not_recorded(self) -> None:
        found = self.validate("--", *noisy(10), "--", *noisy(11), status=1)
        self.assertNotIn("recorded_run", found)
        again = self.validate("--", *noisy(10), "--", *noisy(8), status=0)
        self.assertEqual(again["recorded_run"], 1)
        said = self.gapless(
            "validate", "--pattern", "took ([0-9.]+)", "--db", f"sqlite:{self.folder}/db", "--", *noisy(8), "--",
            *noisy(10),
        ).stdout  # fmt: skip
        self.assertTrue(said.endswith("not recorded: it was refused\n"), said)

    def test_two_configurations(self) -> None:
        command = [*noisy(0)[:-1], "{config}"]
        found = self.validate("--baseline", "10", "--optimized", "8", "--", *command, status=0)
        self.assertAlmostEqual(found["speedup"]["expected"], 1.25, delta=0.03)
        for words in (
            ["--baseline", "a.yaml", "--", "true", "{config}"],
            ["--baseline", "a", "--optimized", "b", "--", "true"],
        ):
            self.assertEqual(self.gapless("validate", *words).returncode, 2)

    def test_text(self) -> None:
        done = self.gapless(
            "validate",
            "--pattern",
            "took ([0-9.]+)",
            "--db",
            f"sqlite:{self.folder}/db",
            "--",
            *noisy(10),
            "--",
            *noisy(8),
        )
        self.assertTrue(done.stdout.startswith("accepted: faster, and no reason against it was found\n"), done.stdout)
        self.assertIn("\nrecorded as run 1\nnext: gapless gate --record -- ", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
