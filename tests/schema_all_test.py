#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that can run without training and validates its JSON against the schema that the program writes. A command
without a schema fails, and so does a key that the schema does not name.

usage: schema_all_test.py PROGRAM
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import corpus
from openai_server import Standin, recording_of

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

PROGRAM = Path(sys.argv[1]).resolve()
SCHEMAS = corpus.pages(PROGRAM) / "schema"
SAMPLE = str(min((corpus.ROOT / "samples").glob("*.json*")))
LIMIT = 300  # seconds
VALUE = "took ([0-9.]+)"
# Commands left out: what their runs need, and where their JSON is validated instead.
NEED_TRAINING = {"optimize", "tune", "same", "trigger"}
SERVES = {"mcp", "serve"}  # the one prints its protocol's, the other ends by a signal: tests/serve_test.py


def noisy(level: float) -> list[str]:
    return [sys.executable, "-S", "-c", f"import random; print('took', random.gauss({level}, {level / 100}))"]


class Schemas(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.database = f"sqlite:{self.folder}/history.db"

    def run_it(self, *words: str, statuses: tuple[int, ...] = (0,)) -> dict[str, Any]:
        """Runs a command with --json, validates what it prints, and returns it."""
        environment = {**os.environ, "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [str(PROGRAM), words[0], "--json", *words[1:]],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        self.assertIn(done.returncode, statuses, done.stderr[-500:])
        document = json.loads(done.stdout)
        schema = json.loads((SCHEMAS / f"{words[0]}.schema.json").read_text(encoding="utf-8"))
        errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
        causes = [cause.message[:200] for error in errors for cause in error.context or [error]]
        self.assertEqual(causes, [], words)
        if isinstance(document, dict):
            self.assertEqual(document["gapless"]["command"], words[0])
        VALIDATED.add(words[0])
        return document if isinstance(document, dict) else {"items": document}

    def test_what_the_program_says_of_itself(self) -> None:
        for words in (["help"], ["help", "query"], ["formats"], ["completion", "bash"], ["optimize", "--list"]):
            self.run_it(*words)
        self.run_it("doctor", statuses=(0, 1))
        self.assertTrue(all(page["state"] == "written" for page in self.run_it("docs", "docs")["pages"]))
        self.assertTrue(all(page["state"] == "same" for page in self.run_it("docs", "docs")["pages"]))

    def test_recordings(self) -> None:
        rates = ["--price", "2.49", "--carbon", "380", "--watts", "300", "--epoch-steps", "1000", "--single", "100ms"]
        report = self.run_it("analyze", "--no-cache", SAMPLE, *rates)
        self.run_it("brief", "--no-cache", SAMPLE)
        self.run_it("why", "--no-cache", SAMPLE, SAMPLE)
        self.run_it("diff", "--no-cache", SAMPLE, SAMPLE)
        self.run_it("analyze", "--no-cache", SAMPLE, "--explain", report["bottlenecks"][0]["id"])
        self.run_it("query", "--no-cache", SAMPLE, "SELECT * FROM gpu_op LIMIT 20")
        self.run_it("query", "--tables")
        self.run_it("predict", "--no-cache", SAMPLE, "--what", "workers,pin", "--what", "kernels=0.5", "--path")
        self.run_it("predict", "--no-cache", SAMPLE, "--sweep", "kernel")
        self.run_it("predict", "--list")
        self.run_it("kernel", "--no-cache", SAMPLE)
        self.run_it("convert", "--no-cache", SAMPLE, "-o", "out.json")
        self.run_it("summarize", "--no-cache", SAMPLE, "-o", "summaries")
        self.run_it("merge", "summaries", "-o", "job.tar")
        self.run_it("slurm-script", "rank{}.json", "--ranks", "2000", "--summaries", "s", "-o", "job.sh")
        self.run_it("kubernetes-job", "rank{}.json", "--ranks", "8", "--summaries", "s", "--image", "gapless")
        self.run_it("report", "--no-cache", SAMPLE, "-o", "report.md")

    def test_measurements(self) -> None:
        pattern = ["--pattern", VALUE, "--seed", "3"]
        self.run_it("bench", "--runs", "3", "--", "sh", "-c", "sleep 0.02")
        bench = self.run_it("bench", "--warmup", "0", "--pattern", VALUE, "--", *noisy(10))
        (self.folder / "bench.json").write_text(json.dumps(bench), encoding="utf-8")
        numbers = "for i in range(130): print('took', 1 + i % 10)"
        self.run_it("bench", "--inference", "--pattern", VALUE, "--", sys.executable, "-S", "-c", numbers)
        server = Standin()
        self.addCleanup(server.close)
        load = self.run_it("bench", "--inference", "--url", server.url, "--steps", "4", "--slo", "ttft=1s")
        (self.folder / "load.json").write_text(json.dumps(load), encoding="utf-8")
        (self.folder / "server.json").write_text(json.dumps(recording_of(load)), encoding="utf-8")
        self.run_it("analyze", "--no-cache", "server.json", "--requests", "load.json")
        self.run_it("compare", *pattern, "--", *noisy(10), "--", *noisy(5), statuses=(0, 1))
        self.run_it("compare", "bench.json", "bench.json", "--series", "step_time_p50_ms", statuses=(0, 1))
        (self.folder / "ratios.txt").write_text("\n".join(["-0.1", "-0.12", "-0.09"] * 8), encoding="utf-8")
        self.run_it("compare", "--ratios", "ratios.txt", statuses=(0, 1))
        self.run_it(
            "validate", *pattern, "--no-record", "--pairs", "8", "--db", self.database, "--", *noisy(10), "--", *noisy(5),
            statuses=(0, 1),
        )  # fmt: skip
        self.run_it("report", "bench.json", "-o", "report.md")

    def test_history(self) -> None:
        words = ["--db", self.database, "--branch", "main", "--label", "speed"]
        for run in range(12):
            self.run_it("history", "record", *words, "--metric", f"samples_per_second={100 + run % 3 + run // 6 * 20}")
        self.run_it("history", "list", "--db", self.database)
        self.run_it("history", "accept", "3", "--db", self.database)
        self.run_it("history", "export", "past.jsonl", "--db", self.database)
        self.run_it("history", "import", "past.jsonl", "--db", f"sqlite:{self.folder}/other.db")
        self.run_it("trend", "--db", self.database)
        bench = self.run_it("bench", "--warmup", "0", "--pattern", VALUE, "--", *noisy(10))
        (self.folder / "bench.json").write_text(json.dumps(bench), encoding="utf-8")
        self.run_it("gate", "bench.json", "--db", self.database, "--label", "speed", statuses=(0, 1))

    def test_commands_that_are_watched(self) -> None:
        self.run_it("profile", "-o", "run", "--", "true")
        self.run_it("monitor", "--listen", "127.0.0.1:0", "-o", "run2", "--", "true")
        shutil.copy(corpus.ROOT / "tests" / "data" / "recipes" / "threads.json", self.folder / "recipe.json")
        self.run_it("run", "--recipe", "recipe.json", "--print", statuses=(0, 1))
        self.run_it("run", "--recipe", "recipe.json", "--", "true")

    def test_bisect(self) -> None:
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
        repository = self.folder / "repository"
        subprocess.run([*git, "init", "-q", str(repository)], check=True)
        for level in (10, 10, 20, 20):
            (repository / "p.py").write_text(
                f"import random\nprint('took', {level} + random.random() / 10)\n# {level}\n"
            )
            subprocess.run([*git, "add", "."], cwd=repository, check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", f"{level}"], cwd=repository, check=True)
        self.folder = repository
        words = ["--good", "HEAD~3", "--bad", "HEAD", "--pattern", VALUE, "--journal", "journal"]
        self.run_it("bisect", *words, "--", sys.executable, "-S", "p.py", statuses=(0, 1))


class Coverage(unittest.TestCase):
    def test_every_command_has_a_schema(self) -> None:
        done = subprocess.run([str(PROGRAM), "help", "--json"], capture_output=True, text=True, check=True)
        for command in json.loads(done.stdout)["commands"]:
            if command["name"] in SERVES or not any(option["name"] == "json" for option in command["options"]):
                continue
            schema = SCHEMAS / f"{command['name']}.schema.json"
            self.assertTrue(schema.is_file(), f"gapless {command['name']} prints JSON and has no {schema}")
            jsonschema.Draft202012Validator.check_schema(json.loads(schema.read_text(encoding="utf-8")))
            self.assertIn(command["name"], VALIDATED | NEED_TRAINING, "its JSON is not validated here")


VALIDATED: set[str] = set()


if __name__ == "__main__":
    suite = unittest.TestSuite()
    for case in (Schemas, Coverage):  # in this order: the second looks at what the first has run
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    sys.exit(0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1)
