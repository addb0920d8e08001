#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The GitHub action, the GitLab snippet of docs/CI.md, run as a CI job runs them: with the event
in a file, a git repository, and a host of pull requests on the loopback address.

usage: ci_test.py PROGRAM [--ci] [--only PATTERN...]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import cases
from cases import in_ci
from corpus import ROOT

try:
    import yaml
    from action_runner import Outcome, Runner
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)
from ci_job import COMMAND, LIMIT, PATTERN, PROGRAM, SCRIPT, Case

MARKER = "<!-- gapless:speed -->"


def write_wheel(path: Path, version: str, script: str) -> None:
    """A wheel that holds a program and nothing else."""
    about = f"gapless-{version}.dist-info"
    files = {
        f"gapless-{version}.data/scripts/gapless": script,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: gapless\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_17_x86_64\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(f"{about}/RECORD", "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"]))


class Job(Case):
    """A job that runs the action."""

    def setUp(self) -> None:
        super().setUp()
        self.inputs = {"program": str(PROGRAM), "command": COMMAND, "options": PATTERN, "label": "speed"}
        self.runner = Runner(ROOT, self.folder / "runner", self.folder / "cache", self.environment)

    def run_action(self, event: str, document: dict[str, Any], ref: str, **inputs: str) -> Outcome:
        file = self.folder / "event.json"
        file.write_text(json.dumps({"repository": {"default_branch": "main"}, **document}))
        self.runner.environment = {
            **self.environment, "GITHUB_EVENT_PATH": str(file), "GITHUB_EVENT_NAME": event, "GITHUB_REF": ref,
            "GITHUB_SHA": self.git(self.work, "rev-parse", "HEAD"), "GITHUB_REPOSITORY": "me/project",
            "GITHUB_API_URL": self.host.url, "GITHUB_SERVER_URL": "https://example.org", "GITHUB_RUN_ID": "12",
            "ACTIONS_RUNTIME_TOKEN": "secret-runtime",
        }  # fmt: skip
        return self.runner.run(self.work, {**self.inputs, **inputs})

    def pull_request(self, ms: float, action: str = "opened", **inputs: str) -> Outcome:
        """A branch with this time, merged into a main branch that went on meanwhile."""
        self.git(self.origin, "checkout", "-q", "-B", "feature", self.base)
        (self.origin / "other.txt").write_text(f"{ms}")
        head = self.commit(ms, "changed")
        self.git(self.origin, "checkout", "-q", "-B", "merged", "main")
        self.git(self.origin, "merge", "-q", "--no-ff", "-m", "merge", head)
        self.checkout("merged")
        # The commit that the event calls the base is older than the one that the merge commit was made of.
        pull = {"number": 7, "base": {"sha": self.base, "ref": "main"}, "head": {"sha": head, "ref": "$(reboot)`id`"}}
        document = {"action": action, "number": 7, "pull_request": {**pull, "title": '"; exit 9; echo "'}}
        return self.run_action("pull_request", document, "refs/pull/7/merge", **inputs)

    def push(self, before: str, **inputs: str) -> Outcome:
        self.checkout("main")
        return self.run_action("push", {"before": before}, "refs/heads/main", **inputs)


class Action(Job):
    @in_ci
    def test_a_pull_request_that_is_slower_and_then_is_not(self) -> None:
        self.host.add(f"> {MARKER}\nlook at this", "person")
        self.host.add(f"{MARKER}\nwritten by a person", "person")
        for number in range(130):
            self.host.add(f"remark {number}", "person")
        self.host.add("<!-- gapless:other -->\nof another benchmark", "other-bot", "Bot")
        outcome = self.pull_request(12)
        self.assertEqual(outcome.status, 1, outcome.log)
        self.assertEqual(outcome.outputs["verdict"], "regression")
        self.assertEqual(outcome.outputs["regression"], "true")
        self.assertAlmostEqual(float(outcome.outputs["performance_delta"]), 100 * (10 / 12 - 1), delta=2)
        self.assertRegex(outcome.log, r"(?m)^::error title=gapless%3A speed::value: .*: regression$")
        self.assertIn("### Performance regression", outcome.summary)
        self.assertEqual(Path(outcome.outputs["report"]).read_text(), outcome.summary)
        (comment,) = self.host.by_bot()
        self.assertEqual(comment, f"{MARKER}\n{outcome.summary}")
        self.assertIn("[job](https://example.org/me/project/actions/runs/12)", comment)

        outcome = self.pull_request(10, "synchronize")
        self.assertEqual(outcome.status, 0, outcome.log)
        self.assertIn(outcome.outputs["verdict"], ("fine", "improvement"))
        (comment,) = self.host.by_bot()
        self.assertNotIn("regression\n", comment.split("|")[0].replace("No performance regression", ""))
        self.assertIn("comment updated", outcome.log)
        self.assertEqual(self.host.comments[1]["body"], f"{MARKER}\nwritten by a person")
        self.assertEqual(sum(request.startswith("POST") for request in self.host.requests), 1)
        self.assertEqual(self.host.tokens, {"Bearer secret-token"})
        self.assertNotIn("secret-token", outcome.log)

    def test_only_what_the_pull_request_changes_is_judged(self) -> None:
        self.git(self.origin, "checkout", "-q", "main")
        (self.origin / "run.py").write_text(SCRIPT.format(13.0))
        self.git(self.origin, "commit", "-q", "-am", "main became slower")
        self.git(self.origin, "checkout", "-q", "-B", "feature", self.base)
        (self.origin / "other.txt").write_text("a change elsewhere")
        self.git(self.origin, "add", ".")
        self.git(self.origin, "commit", "-q", "-m", "elsewhere")
        self.git(self.origin, "checkout", "-q", "-B", "merged", "main")
        self.git(self.origin, "merge", "-q", "--no-ff", "-m", "merge", "feature")
        self.checkout("merged")
        pull = {"number": 7, "base": {"sha": self.base}, "head": {"sha": self.git(self.origin, "rev-parse", "feature")}}
        outcome = self.run_action("pull_request", {"pull_request": pull}, "refs/pull/7/merge")
        self.assertEqual(outcome.status, 0, outcome.log)

    def test_a_fork_whose_token_only_reads(self) -> None:
        self.host.read_only = True
        outcome = self.pull_request(10)
        self.assertEqual(outcome.status, 0, outcome.log)
        self.assertRegex(outcome.log, r"(?m)^::notice title=gapless::no comment: GitHub answered 403, .*fork")
        self.assertEqual(self.host.comments, [])

    @in_ci
    def test_a_push(self) -> None:
        self.commit(12)
        outcome = self.push(self.base)
        self.assertEqual((outcome.status, outcome.outputs["regression"]), (1, "true"), outcome.log)
        self.assertIn("### Performance regression", outcome.summary)
        self.assertEqual(self.host.requests, [])

    def test_the_first_commit_has_nothing_before_it(self) -> None:
        outcome = self.push("0" * 40)
        self.assertEqual((outcome.status, outcome.outputs["verdict"]), (0, "cannot_tell"), outcome.log)
        self.assertIn("::warning title=gapless%3A speed::", outcome.log)

    def test_a_baseline_by_name(self) -> None:
        self.git(self.origin, "branch", "release")
        self.commit(12)
        self.assertEqual(self.push("0" * 40, baseline="release").status, 1)
        outcome = self.push("0" * 40, baseline="no-such-branch")
        self.assertEqual((outcome.status, outcome.outputs["verdict"]), (3, "error"), outcome.log)

    def test_both_commits_are_built(self) -> None:
        build = "sed 's/took/built/' run.py >built.py"
        outcome = self.pull_request(
            12, build=build, command=f"{sys.executable} -S built.py", options="--pattern 'built ([0-9.]+)'"
        )
        self.assertEqual(outcome.status, 1, outcome.log)
        self.assertFalse((self.work / "built.py").exists())

    def test_a_command_that_fails_and_what_it_prints(self) -> None:
        lines = "::error::fake\\n::set-output name=a::b\\n```\\n</details> @everyone"
        outcome = self.pull_request(10, command=f"printf '{lines}'; exit 3")
        self.assertEqual((outcome.status, outcome.outputs["verdict"]), (5, "error"), outcome.log)
        self.assertEqual(outcome.outputs["performance_delta"], "")
        (comment,) = self.host.by_bot()
        self.assertIn("### Performance: not measured\n\n````text\n", comment)
        stopped = re.search(r"::stop-commands::(\w{32})\n(.*?)\n::\1::", outcome.log, re.DOTALL)
        self.assertIn("::error::fake", stopped[2] if stopped else "")

    @in_ci
    def test_values_are_no_commands(self) -> None:
        nasty = 'a"; touch pwned; echo "$(touch pwned)`touch pwned` ::error::x%,:'
        outcome = self.pull_request(10, label=nasty, threshold="5%")
        self.assertEqual(outcome.status, 0, outcome.log)
        self.assertEqual(list(self.folder.rglob("pwned")), [])
        self.assertRegex(self.host.by_bot()[0].split("\n")[0], r"^<!-- gapless:[A-Za-z0-9_.-]+ -->$")

    @in_ci
    def test_the_command_sees_no_token(self) -> None:
        seen = self.folder / "seen"
        self.pull_request(10, command=f"env >'{seen}'; {COMMAND}")
        text = seen.read_text()
        self.assertNotIn("secret", text)
        self.assertNotRegex(text, "(?m)^GITHUB_(OUTPUT|ENV|PATH|STEP_SUMMARY)=")
        self.assertIn("GITHUB_SHA=", text)

    def test_a_server_that_fails(self) -> None:
        self.host.failures = [502]
        self.assertEqual(self.pull_request(10).status, 0)
        self.assertEqual(len(self.host.by_bot()), 1)
        self.host.failures = [500, 500, 500]
        outcome = self.pull_request(10)
        self.assertEqual(outcome.status, 0)
        self.assertIn("no comment: GitHub cannot be reached, it failed%0Aas planned", outcome.log)
        self.host.failures = [302]
        self.assertIn("answered 302", self.pull_request(10).log)
        self.assertNotIn("GET /elsewhere", self.host.requests)

    def test_no_comment(self) -> None:
        self.assertEqual(self.pull_request(10, comment="false").status, 0)
        self.assertEqual(self.host.requests, [])

    @in_ci
    def test_wrong_inputs(self) -> None:
        self.assertEqual(self.pull_request(10, mode="neither").status, 2)
        self.assertEqual(self.pull_request(10, command="").status, 2)

    def test_the_program_is_built_once(self) -> None:
        action = self.folder / "action"
        action.mkdir()
        (action / "action.yml").symlink_to(ROOT / "action.yml")
        (action / "scripts").symlink_to(ROOT / "scripts")
        rule = (
            f"packages:\nbuild:\n\tmkdir -p build && cp '{PROGRAM}' build/gapless\n\techo built >>'{self.folder}/log'\n"
        )
        (action / "Makefile").write_text(".PHONY: packages build\n" + rule)
        (action / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
        self.runner.action = action
        for _ in range(2):
            self.assertEqual(self.pull_request(10, program="").status, 0)
        self.assertEqual((self.folder / "log").read_text(), "built\n")
        (action / "source.cc").write_text("changed\n")
        self.assertEqual(self.pull_request(10, program="").status, 0)
        self.assertEqual((self.folder / "log").read_text(), "built\nbuilt\n")

    def test_a_wheel_is_installed(self) -> None:
        """That of a release of the action's repository, or the one that is named; a named one that is not there is an error."""
        version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
        assert version
        name = f"gapless-{version[1]}-py3-none-manylinux_2_17_x86_64.whl"
        releases = self.folder / "releases" / "owner" / "gapless" / "releases" / "download" / f"v{version[1]}"
        releases.mkdir(parents=True)
        script = f"#!/bin/sh\necho of the wheel >>'{self.folder}/log'\nexec '{PROGRAM}' \"$@\"\n"
        write_wheel(releases / name, version[1], script)
        run = [str(ROOT / "scripts/ci_program.sh"), str(self.folder / "program")]
        environment = {
            **self.environment, "RUNNER_ARCH": "X64", "GITHUB_ACTION_REPOSITORY": "owner/gapless",
            "GITHUB_SERVER_URL": f"file://{self.folder}/releases",
        }  # fmt: skip
        subprocess.run(run, env=environment, check=True, timeout=LIMIT)
        self.assertEqual((self.folder / "program/gapless").read_text(), script)
        (self.folder / "program/gapless").unlink()
        outcome = self.pull_request(10, program="", package=str(releases / name))
        self.assertEqual(outcome.status, 0, outcome.log)
        self.assertIn("of the wheel", (self.folder / "log").read_text())
        self.assertNotEqual(self.pull_request(10, program="", package=str(self.folder / name)).status, 0)


class HistoryMode(Job):
    """Pushes are recorded, pull requests only read what was."""

    def setUp(self) -> None:
        super().setUp()
        self.past = self.folder / "cache" / "gapless-history-speed-0-0" / "history.db"
        self.past.parent.mkdir(parents=True)
        for number in range(12):
            rate = 100 + (number * 7 % 5 - 2) / 2
            done = subprocess.run(
                [str(PROGRAM), "history", "record", "--db", str(self.past), "--label", "speed", "--branch", "main",
                 "--commit", f"{number:040x}", "--metric", f"samples_per_second={rate}"],
                cwd=self.origin, env=self.environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)

    def results(self, rate: float) -> dict[str, str]:
        (self.folder / "result.csv").write_text(f"samples_per_second\n{rate}\n")
        result = str(self.folder / "result.csv")
        return {"mode": "history", "results": result, "command": "", "options": ""}

    def recorded(self) -> list[int]:
        counts = []
        for path in sorted((self.folder / "cache").glob("gapless-history-speed-*"), key=os.path.getctime):
            listed = subprocess.run(
                [str(PROGRAM), "history", "list", "--db", str(path / "history.db"), "--json"],
                env=self.environment, capture_output=True, text=True, check=True,
            )  # fmt: skip
            counts.append(len(json.loads(listed.stdout)["runs"]))
        return counts

    def test_history(self) -> None:
        outcome = self.pull_request(10, **self.results(85))
        self.assertEqual((outcome.status, outcome.outputs["verdict"]), (0, "cannot_tell"), "one run proves nothing")
        self.assertIn("::warning title=gapless", outcome.log)
        self.assertAlmostEqual(float(outcome.outputs["performance_delta"]), -15, delta=0.5)
        self.assertIn("samples_per_second", self.host.by_bot()[0])
        self.assertEqual(self.recorded(), [12])
        self.git(self.origin, "checkout", "-q", "main")
        outcome = self.push(self.base, **self.results(100))
        self.assertEqual((outcome.status, outcome.outputs["verdict"]), (0, "fine"), outcome.log)
        self.assertEqual(self.recorded(), [12, 13])
        self.checkout("main")
        outcome = self.run_action("push", {"before": self.base}, "refs/heads/feature", **self.results(100))
        self.assertEqual((outcome.status, outcome.outputs["verdict"]), (0, "fine"), outcome.log)
        self.assertEqual(self.recorded(), [12, 13])


class GitLab(Case):
    def job(self) -> dict[str, Any]:
        blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/CI.md").read_text(), re.DOTALL)
        (text,) = [block for block in blocks if "CI_MERGE_REQUEST" in block]
        job: dict[str, Any] = yaml.safe_load(text)["performance"]
        return job

    def run_job(self, token: str | None) -> subprocess.CompletedProcess[str]:
        job = self.job()
        environment = {
            **self.environment, "CI_API_V4_URL": self.host.url,
            "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base,
            "GAPLESS": str(ROOT), **({"GITLAB_TOKEN": token} if token else {}),
        }  # fmt: skip
        script = "\n".join(job["script"])
        for old, new in (
            ("-- python bench.py", f"{PATTERN} -- {COMMAND}"),
            ('"$GAPLESS/build/gapless"', f"'{PROGRAM}'"),
        ):
            self.assertIn(old, script)
            script = script.replace(old, new)
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=self.work, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip

    def test_the_snippet(self) -> None:
        self.host.user = "project_bot"
        self.git(self.folder, "clone", "-q", str(self.origin), str(self.work))
        (self.work / "run.py").write_text(SCRIPT.format(12))
        done = self.run_job("secret-note")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("<failure", (self.work / self.job()["artifacts"]["reports"]["junit"]).read_text())
        (note,) = self.host.comments
        self.assertRegex(note["body"], r"^<!-- gapless:\w+ -->\n### Performance: regression\n")
        (self.work / "run.py").write_text(SCRIPT.format(10))
        done = self.run_job("secret-note")
        self.assertEqual(done.returncode, 0, done.stderr)
        (note,) = self.host.comments
        self.assertNotIn("### Performance: regression", note["body"])
        self.assertEqual(self.host.tokens, {"secret-note"})
        self.assertNotIn("secret-note", done.stdout + done.stderr)


class OwnWorkflow(Job):
    """The steps of this project's workflow, in a copy of this repository, with the program that is there in place of a build."""

    def setUp(self) -> None:
        super().setUp()
        if not (ROOT / ".git").exists():
            self.skipTest("the sources are in no git repository")
        self.git(self.folder, "clone", "-q", "--shared", "--no-checkout", str(ROOT), str(self.work))
        kept = ["action.yml", "bench/run", "samples", "scripts", ".gitignore"]
        for name in kept:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, self.work / name)
        self.git(self.work, "add", *kept)
        self.git(self.work, "commit", "-q", "--allow-empty", "-m", "as it is here")
        self.build = f"mkdir -p build && cp '{PROGRAM}' build/gapless"
        subprocess.run(["sh", "-c", self.build], cwd=self.work, check=True)
        self.workflow = yaml.safe_load((ROOT / ".github/workflows/performance-benchmark.yml").read_text())
        self.runner.folder.mkdir()

    def shell(self, text: str) -> None:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", text], cwd=self.work, capture_output=True, text=True, timeout=LIMIT,
            env={**self.environment, "RUNNER_TEMP": str(self.runner.folder)}, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def script(self, job: str, word: str) -> str:
        (text,) = [step["run"] for step in self.workflow["jobs"][job]["steps"] if word in step.get("run", "")]
        return str(text).replace("--gigabytes 0.5", "--gigabytes 0.01").replace("--runs 20", "--runs 1")

    def test_benchmark(self) -> None:
        self.shell(self.script("benchmark", "bench/run"))
        for step in [step for step in self.workflow["jobs"]["benchmark"]["steps"] if step.get("uses") == "./"]:
            given = {key: value.replace("${{ env.ANALYZE }}", self.workflow["env"]["ANALYZE"])
                     for key, value in step["with"].items()}  # fmt: skip
            given["program"] = str(PROGRAM)
            if "build" in given:
                self.assertEqual(given["build"], "make build")
                given["build"] = self.build
            self.inputs = {**given, "options": given["options"] + (" --pairs 8" if "build" in given else "")}
            outcome = self.run_action("push", {"before": self.git(self.work, "rev-parse", "HEAD")}, "refs/heads/main")
            # The same program on both sides; on a machine that is not quiet a false alarm is possible.
            self.assertIn(outcome.outputs["verdict"], ("fine", "improvement", "cannot_tell", "regression"), outcome.log)
        self.assertEqual(len(list((self.folder / "cache").glob("gapless-history-analyze-*"))), 1)

    def test_control(self) -> None:
        self.shell(self.script("control", "bench/run"))
        self.shell(self.script("control", "aa_control"))
        counts = self.folder / "home/.cache/gapless-ci/control/counts.jsonl"
        self.assertEqual(len(counts.read_text().splitlines()), 1)


if __name__ == "__main__":
    sys.exit(cases.main(sys.argv[2:]))
