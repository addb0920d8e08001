#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects by labels which tests run where (tests/CMakeLists.txt says what these mean).

usage: test_plan.py options RUN       what ctest is given for a run, a word a line
       test_plan.py list BUILD        every test with its labels and the runs that it is part of
       test_plan.py check BUILD       fails when a test runs nowhere, or something is wrong with its labels
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {"unit", "corpus", "training", "statistics", "browser", "crash"}
MORE_LABELS = {"optimised", "slow", "reader"}
NOT_BUILT = "_NOT_BUILT"  # how ctest calls a program of GoogleTest that this build has not made
# Scripts of tests/ that are no test by themselves: others import or drive them.
HELPERS = {
    "action_runner.py",
    "cases.py",
    "ci_job.py",
    "cluster_job.py",
    "compat_hta.py",
    "compat_hta_cases.py",
    "compat_hta_jobs.py",
    "corpus.py",
    "fake_hosts.py",
    "hta.py",
    "moved_recording.py",
    "openai_server.py",
    "oracle.py",
    "patch_checkouts.py",
    "patch_edits.py",
    "patch_scripts.py",
    "postgres.py",
    "proof_case.py",
    "served.py",
    "site_parts.py",
    "strangers_data.py",
    "why_pairs.py",
}


@dataclass(frozen=True)
class Run:
    name: str
    where: str  # "ci", "person", "schedule"
    preset: str
    without: str = ""  # labels, a regular expression
    only: str = ""  # a label, a regular expression; empty: all
    started_by: str = ""  # of the schedule: what its job says


RUNS = (
    Run("ci-optimised", "ci", "release", without="^(slow|reader)$"),
    Run("ci-sanitizers", "ci", "ci", only="^reader$"),
    Run("person", "person", "release", without="^slow$"),
    Run("all", "schedule", "release", started_by="make test-all"),
    Run("sanitizers", "schedule", "ci", without="^(slow|optimised)$", started_by="THOROUGH=1 make test"),
    Run("thread-sanitizer", "schedule", "tsan", without="^(slow|optimised)$", started_by="test_plan.py options thread-sanitizer"),
    Run("clang", "schedule", "clang", without="^slow$", started_by="test_plan.py options clang"),
)  # fmt: skip


@dataclass(frozen=True)
class Test:
    name: str
    labels: frozenset[str]
    command: tuple[str, ...]


def ctest_options(run: Run) -> list[str]:
    only = ["-L", run.only] if run.only else []
    return ["-E", f"{NOT_BUILT}$", *only, *(["-LE", run.without] if run.without else [])]


def runs_in(test: Test, run: Run) -> bool:
    if run.only and not any(re.search(run.only, label) for label in test.labels):
        return False
    return not (run.without and any(re.search(run.without, label) for label in test.labels))


def tests_of(build: Path) -> list[Test]:
    shown = subprocess.run(
        ["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True, text=True
    )
    found = []
    for one in json.loads(shown.stdout)["tests"]:
        if one["name"].endswith(NOT_BUILT):
            continue
        labels: list[str] = next((p["value"] for p in one.get("properties", []) if p["name"] == "LABELS"), [])
        found.append(Test(one["name"], frozenset(labels), tuple(one.get("command", ()))))
    return found


def problems_of_labels(tests: list[Test]) -> list[str]:
    problems = []
    for test in tests:
        labels = {label for label in test.labels if not label.startswith("why: ")}
        if not labels & KINDS:
            problems.append(f"{test.name}: no label says what kind of test it is ({', '.join(sorted(KINDS))})")
        problems += [f"{test.name}: the label '{one}' is not known" for one in sorted(labels - KINDS - MORE_LABELS)]
        if not any(runs_in(test, run) for run in RUNS):
            problems.append(f"{test.name}: runs nowhere")
    return problems


def problems_of_files(tests: list[Test], root: Path = ROOT) -> list[str]:
    """A file that holds tests and that nothing starts or finds by its name would look tested and never run."""
    started = {Path(word).name for test in tests for word in test.command}
    problems = [
        f"tests/{script.name}: no test starts it"
        for script in sorted((root / "tests").glob("*.py"))
        if script.name not in started | HELPERS
    ]
    found_by = (("tests/agent", "*.py", "def test_", "test_"), ("tests/validate_api", "*.py", "def test_", "test_"),
                ("web/test", "*.ts", "\ntest(", ""))  # fmt: skip
    for folder, pattern, sign, begin in found_by:
        for file in sorted((root / folder).glob(pattern)):
            known = file.name.startswith(begin) and (file.suffix != ".ts" or file.name.endswith(".spec.ts"))
            if not known and sign in file.read_text(encoding="utf-8"):
                problems.append(f"{folder}/{file.name}: has tests, but not a name by which they are found")
    return problems


def problems_of_schedule() -> list[str]:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    return [
        f"the run '{run.name}' is on the schedule, but no job of ci.yml says '{run.started_by}'"
        for run in RUNS
        if run.where == "schedule" and run.started_by not in workflow
    ]


def check(build: Path) -> int:
    tests = tests_of(build)
    problems = problems_of_labels(tests) + problems_of_files(tests) + problems_of_schedule()
    if not tests:
        problems.append(f"{build}: there are no tests")
    for run in RUNS:
        number = sum(runs_in(test, run) for test in tests)
        print(f"{number:5} of {len(tests)} tests run in {run.name} ({run.where})")
    print("\n".join(problems) or "each test runs somewhere")
    return 1 if problems else 0


def show(build: Path) -> int:
    for test in sorted(tests_of(build), key=lambda one: (sorted(one.labels), one.name)):
        where = " ".join(run.name for run in RUNS if runs_in(test, run))
        print(f"{', '.join(sorted(test.labels)):40} {test.name}  [{where}]")
    return 0


def main(words: list[str]) -> int:
    if len(words) == 2 and words[0] == "options":
        print("\n".join(next(ctest_options(run) for run in RUNS if run.name == words[1])))
        return 0
    if len(words) == 2 and words[0] in ("check", "list"):
        return (check if words[0] == "check" else show)(Path(words[1]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
