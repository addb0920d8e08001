#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless gate` on commands without PyTorch: against a history, against a commit, its formats, what fails.

usage: gate_test.py PROGRAM [--ci] [--only PATTERN...]
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from typing import Any

import cases
from proof_case import PROGRAM, Case, noisy


class Gate(Case):
    """A history of forty runs around 100 samples a second, and what is said of the next one."""

    def setUp(self) -> None:
        super().setUp()
        self.database = f"sqlite:{self.folder}/history.db"
        draw = random.Random(5)
        rows = ["timestamp,commit_sha,branch,samples_per_second,step_time_ms"]
        for number in range(40):
            rate = 100 * (1 + draw.gauss(0, 0.01))
            rows.append(f"2026-01-{1 + number // 2:02}T{number % 2:02}:00:00Z,{number:040x},main,{rate},{1000 / rate}")
        (self.work / "past.csv").write_text("\n".join(rows) + "\n")
        done = self.gapless("history", "import", "past.csv", "--db", self.database)
        self.assertEqual(done.returncode, 0, done.stderr)

    def gate(self, rate: float, *options: str, status: int) -> dict[str, Any]:
        words = ["gate", "--json", "--db", self.database, "--branch", "work"]
        if "--commit" not in options:
            words += ["--commit", "f" * 40]
        (self.work / "result.csv").write_text(f"samples_per_second\n{rate}\n")
        return self.json(*words, "result.csv", "--metric", f"samples_per_second={rate}", *options, status=status)

    def test_as_before(self) -> None:
        found = self.gate(99.5, status=0)
        self.assertEqual((found["verdict"], found["regression_detected"]), ("fine", False))
        self.assertAlmostEqual(found["baseline_samples_per_sec"], 100, delta=1)
        self.assertEqual((found["current_samples_per_sec"], found["threshold"]), (99.5, 0.05))
        self.assertTrue(0.005 < found["mde_share"] < 0.1)
        self.assertTrue(0 < found["false_alarm_rate"] < 0.07)
        self.assertIn("simulated for noise like that of these 40 runs", found["false_alarm_over"])
        self.assertEqual(found["metrics"][0]["false_alarm_rate"], found["false_alarm_rate"])
        self.assertIn(found["metrics"][0]["noise_kind"], ("quiet", "drift"))

    def test_one_slow_run_is_pending(self) -> None:
        found = self.gate(85, status=0)
        self.assertEqual((found["verdict"], found["regression_detected"]), ("cannot_tell", False))
        self.assertEqual((found["alarm_pending"], found["metrics"][0]["pending"]), (True, "regression"))
        self.assertNotIn("likely_culprit_commit", found)
        self.assertAlmostEqual(found["performance_delta"], -15, delta=1.5)
        self.gate(85, "--strict", status=5)

    def test_slower(self) -> None:
        """Each run of the pull request is recorded on its own branch; together they are a regression."""
        for _ in range(2):
            self.gate(85, "--record", status=0)
        found = self.gate(85, "--record", "--strict", status=1)
        self.assertEqual((found["verdict"], found["likely_culprit_commit"]), ("regression", "f" * 40))
        self.assertEqual(found["alarm_pending"], False)
        self.assertAlmostEqual(found["performance_delta"], -15, delta=1.5)

    def test_faster(self) -> None:
        self.assertEqual(self.gate(115, "--record", status=0)["metrics"][0]["pending"], "improvement")
        self.gate(115, "--record", status=0)
        self.assertEqual(self.gate(115.5, status=0)["verdict"], "improvement")

    def test_no_history(self) -> None:
        found = self.gate(85, "--baseline", "nowhere", status=0)
        self.assertEqual(found["verdict"], "cannot_tell")
        self.assertNotIn("baseline", found)

    def test_the_bare_rule(self) -> None:
        self.assertEqual(self.gate(96, "--naive", status=0)["verdict"], "fine")
        found = self.gate(90, "--naive", status=1)
        self.assertNotIn("false_alarm_rate", found)

    def test_an_alarm_freezes_the_baseline(self) -> None:
        for run in range(12):
            found = self.gate(85, "--record", "--branch", "main", status=int(run >= 2))
        self.assertAlmostEqual(found["baseline"], 100, delta=1)
        self.assertEqual(found["metrics"][0]["runs"], 40)

    def test_a_level_that_is_accepted(self) -> None:
        for run in range(12):
            self.gate(85, "--record", "--branch", "main", status=int(run >= 2))
        self.assertEqual(self.gapless("history", "accept", "41", "--db", self.database).returncode, 0)
        self.assertEqual(self.gate(85, status=0)["verdict"], "fine")
        for wrong in ("", "x", "4000"):
            self.assertNotEqual(self.gapless("history", "accept", wrong, "--db", self.database).returncode, 0)

    def test_fresh_runs_of_the_command(self) -> None:
        """They refute an alarm. They are one sample of this machine, and confirm it only where many runs know how slow that may be."""
        words = ["gate", "--json", "--db", self.database, "--metric", "step_time_p50_ms=20"]
        pattern = ["--pattern", "took ([0-9.]+)", "--gate", "step_time_p50_ms"]

        def record(runs: int) -> None:
            lines = [
                json.dumps(
                    {
                        "gapless_history": 1, "uid": f"{at + 1000 * runs:032x}", "commit_sha": f"c{at}", "branch": "main",
                        "recorded_unix_ns": 2_000_000_000_000_000_000 + at,
                        "metrics": [{"name": "step_time_p50_ms", "value": 10 + at % 3 / 50}],
                    }
                )
                for at in range(runs)
            ]  # fmt: skip
            (self.work / "steps.jsonl").write_text("\n".join(lines) + "\n")
            self.gapless("history", "import", "steps.jsonl", "--db", self.database)

        record(12)
        self.assertEqual(self.json(*words, *pattern, "--", *noisy(10))["verdict"], "fine")
        found = self.json(*words, *pattern, "--", *noisy(20))
        self.assertEqual((found["alarm_pending"], found["regression_detected"]), (True, False))
        self.assertIn("fresh runs are of one machine", found["metrics"][0]["reason"])
        record(70)
        found = self.json(*words, *pattern, "--", *noisy(20), status=1)
        self.assertTrue(found["metrics"][0]["confirmed"])

    def test_two_machines_without_a_name(self) -> None:
        """They differ by 25 %. What cannot be seen between them is said."""
        draw = random.Random(3)
        rows = ["timestamp,commit_sha,branch,samples_per_second"]
        for at in range(40):
            rate = (100 if at % 2 else 80) * (1 + draw.gauss(0, 0.01))
            rows.append(f"2026-01-{1 + at // 2:02}T{at % 2:02}:00:00Z,{at:040x},two,{rate}")
        (self.work / "two.csv").write_text("\n".join(rows) + "\n")
        self.gapless("history", "import", "two.csv", "--db", self.database)
        found = self.gate(99, "--baseline", "two", status=0)
        self.assertEqual(found["metrics"][0]["noise_kind"], "two_machines")
        self.assertTrue(any("two machines seem to take turns" in note for note in found["warnings"]), found["warnings"])

    def test_a_threshold_is_what_it_says(self) -> None:
        for rate, threshold, verdict in ((95.7, "5%", "fine"), (92, "5%", "regression"), (92.1, "10%", "fine")):
            commit = ("--commit", f"{int(10 * rate)}")
            for _ in range(8):  # one run alone shows little in this noise
                self.gapless(
                    "history", "record", "--db", self.database, "--branch", f"b{rate}", *commit,
                    "--metric", f"samples_per_second={rate}",
                )  # fmt: skip
            found = self.gate(rate, *commit, "--threshold", threshold, status=int(verdict == "regression"))
            self.assertEqual(found["verdict"], verdict, (rate, threshold))
            self.assertIn(f"more than {threshold[:-1]}", found["judged"])

    def test_another_machine_or_device_is_no_baseline(self) -> None:
        def result(value: float, **environment: str) -> str:
            path = self.work / "result.json"
            path.write_text(
                json.dumps(
                    {
                        "gapless": {"version": "1", "schema": 1},
                        "metrics": {"samples_per_second": value},
                        "environment": environment,
                    }
                )
            )
            return str(path)

        here = {"fingerprint": "a", "device": "gpu"}
        database = f"sqlite:{self.folder}/machines.db"
        for run in range(20):
            done = self.gapless(
                "history", "record", result(100 + run % 3, **here), "--branch", "main", "--db", database
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
        gate = ["gate", "--json", "--db", database]
        self.assertTrue(self.json(*gate, result(50, **here))["alarm_pending"])
        for other in ({**here, "fingerprint": "b"}, {**here, "device": "cpu"}):
            found = self.json(*gate, result(50, **other))
            self.assertEqual((found["verdict"], found["regression_detected"]), ("cannot_tell", False), other)

    def test_forms(self) -> None:
        command = ["gate", "--db", self.database, "--metric", "samples_per_second=85.5", "--commit", "f" * 40]
        pending = self.gapless(*command, "--format", "markdown").stdout
        self.assertIn("### Performance: an alarm is pending", pending)
        for _ in range(2):
            self.gate(85, "--record", status=0)
        texts = {
            form: self.gapless(*command, "--format", form).stdout
            for form in ("text", "markdown", "junit", "sarif", "github")
        }
        self.assertIn("a regression", texts["text"])
        self.assertIn("### Performance regression", texts["markdown"])
        suite = xml.etree.ElementTree.fromstring(texts["junit"])
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        self.assertEqual(json.loads(texts["sarif"])["runs"][0]["results"][0]["level"], "error")
        self.assertEqual(len(json.loads(texts["sarif"])["runs"][0]["results"][0]["locations"]), 1)
        self.assertRegex(texts["github"], r"^::error title=gapless gate::samples_per_second: 85")
        self.gapless(*command, "--write", "junit=gate.xml,markdown=gate.md")
        self.assertEqual((self.work / "gate.xml").read_text(), texts["junit"])
        self.assertEqual((self.work / "gate.md").read_text(), texts["markdown"])
        for wrong in ("junit", "word=x", "junit="):
            self.assertEqual(self.gapless(*command, "--write", wrong).returncode, 2)

    def test_against_a_commit(self) -> None:
        def git(*words: str) -> None:
            subprocess.run(
                ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
                cwd=self.work,
                check=True,
                capture_output=True,
            )

        script = "import random\nprint('took', {} * (1 + random.gauss(0, 0.01)))\n"
        git("init", "-q", "-b", "main")
        (self.work / "run.py").write_text(script.format("10.0"))
        git("add", "run.py")
        git("commit", "-q", "-m", "ten")
        command = [
            "gate",
            "--against",
            "HEAD",
            "--json",
            "--pattern",
            "took ([0-9.]+)",
            "--",
            sys.executable,
            "-S",
            "run.py",
        ]
        self.assertEqual(self.json(*command)["verdict"], "fine")
        (self.work / "run.py").write_text(script.format("11.5"))
        found = self.json(*command, status=1)
        self.assertEqual(found["verdict"], "regression")
        self.assertAlmostEqual(found["performance_delta"], 100 * (1 / 1.15 - 1), delta=1.5)

    def repository(self, script: str) -> None:
        for words in (("init", "-q", "-b", "main"), ("add", "run.py"), ("commit", "-q", "-m", "one")):
            if words[0] == "add":
                (self.work / "run.py").write_text(script)
            subprocess.run(
                ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
                cwd=self.work, check=True, capture_output=True,
            )  # fmt: skip

    def test_seven_pairs_decide_and_six_do_not(self) -> None:
        """The last look at all pairs decides what is clear; with fewer pairs nothing could have been seen, and nothing is claimed."""
        script = "import random\nprint('took', {} * (1 + random.gauss(0, 0.01)))\n"
        self.repository(script.format("10.0"))
        (self.work / "run.py").write_text(script.format("7.5"))
        words = ["gate", "--against", "HEAD", "--json", "--pattern", "took ([0-9.]+)"]
        metric = self.json(*words, "--pairs", "7", "--", sys.executable, "-S", "run.py")["metrics"][0]
        self.assertEqual(metric["verdict"], "improvement")
        self.assertTrue(metric["change_low"] < -0.25 < metric["change_high"] < -0.2, metric)
        self.assertTrue(0 < metric["mde_share"] < 0.1, metric)
        metric = self.json(*words, "--pairs", "6", "--", sys.executable, "-S", "run.py")["metrics"][0]
        self.assertEqual(metric["verdict"], "cannot_tell")
        self.assertIn("of which it takes 7 at least", metric["reason"])
        self.assertNotIn("mde_share", metric)

    @cases.not_in_ci
    def test_against_a_commit_within_a_budget(self) -> None:
        """Pairs that take too long are not begun, and a run that goes on beyond it is ended."""
        self.repository("import time\ntime.sleep(1.5)\n")
        words = [
            "gate",
            "--against",
            "HEAD",
            "--whole",
            "--json",
            "--budget",
            "12s",
            "--",
            sys.executable,
            "-S",
            "run.py",
        ]
        begun = time.monotonic()
        found = self.json(*words)
        self.assertLess(time.monotonic() - begun, 40)
        self.assertEqual(found["verdict"], "cannot_tell")
        self.assertIn("--budget", found["metrics"][0]["reason"])
        (self.work / "run.py").write_text("import time\ntime.sleep(600)\n")
        done = self.gapless(*words)
        self.assertIn("no time for a single pair", done.stderr)

    def test_an_interruption_says_what_is_known(self) -> None:
        self.repository("import time\ntime.sleep(0.05)\n")
        words = ["gate", "--against", "HEAD", "--whole", "--pairs", "10000", "--threshold", "90%", "--", sys.executable]
        script = "import os, time\ntime.sleep(0.05)\nopen(os.environ['RUNS'], 'a').write('.')\n"
        (self.work / "run.py").write_text(script)
        runs = self.work / "runs"
        with subprocess.Popen(
            [PROGRAM, *words, "run.py"], cwd=self.work, env={**self.environment, "RUNS": str(runs)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            until = time.monotonic() + 60
            while (
                time.monotonic() < until and process.poll() is None and not (runs.exists() and runs.stat().st_size > 6)
            ):
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        if process.returncode != 0:  # it may have been decided before
            self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
            self.assertIn("interrupted: this is what was known until then", out)

    def test_what_fails(self) -> None:
        self.assertEqual(self.gapless("gate").returncode, 2)
        self.assertEqual(self.gapless("gate", "--against", "nowhere", "--", "true").returncode, 3)
        self.assertEqual(self.gapless("gate", "missing.json", "--db", self.database).returncode, 3)


if __name__ == "__main__":
    sys.exit(cases.main(sys.argv[2:]))
