#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `gapless gate` once in a CI job and hands its answer on: the step's outputs, annotations, the job's summary, a report.

Which commit is compared with, and whether the result is recorded, follows from the event that started the job:

    event           mode against: the other commit is           mode history: recorded
    pull request    the merge commit's first parent, else the   never
                    base of the pull request
    push            the branch's tip before the push            when it is a push to the baseline branch
    other           the parent of the commit checked out        when the baseline branch is checked out

A commit that a shallow checkout lacks is fetched from `origin`. The exit status is that of `gapless gate`: 1 for a regression,
above 1 when there is no answer. What runs under the gate sees no token, and what it prints is no command to the runner.

usage: ci_gate.py --output FOLDER (--command TEXT | --results FILE) [option=value…]; an empty value is one that is not given
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TAIL = 4000  # characters of what a command printed that go into a report
NO_COMMIT = "0" * 40  # what GitHub calls the tip of a branch that was not there
KEPT = "refs/heads/gapless-baseline"  # the other commit, where the checkout is shallow
# With these a command could answer in the gate's place, or act with the job's rights.
PRIVATE = re.compile(
    r"GITHUB_(OUTPUT|ENV|PATH|STATE|STEP_SUMMARY|TOKEN)|ACTIONS_\w*TOKEN\w*|GITLAB_TOKEN|CI_JOB_TOKEN|INPUT_TOKEN"
)


@dataclass
class Event:
    """What started the job. `base` and `head` are commits of a pull request, `before` the tip before a push."""

    name: str
    ref: str
    default_branch: str
    before: str = ""
    base: str = ""
    head: str = ""

    @property
    def is_pull_request(self) -> bool:
        return self.name.startswith("pull_request")


def document_in(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty where there is none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def event_document() -> dict[str, Any]:
    """The event as the runner describes it."""
    return document_in(Path(os.environ.get("GITHUB_EVENT_PATH", "")))


def text_at(document: Any, *keys: str) -> str:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, str) else ""


def current_event() -> Event:
    document = event_document()
    return Event(
        name=os.environ.get("GITHUB_EVENT_NAME", ""),
        ref=os.environ.get("GITHUB_REF", ""),
        default_branch=text_at(document, "repository", "default_branch") or "main",
        before=text_at(document, "before"),
        base=text_at(document, "pull_request", "base", "sha"),
        head=text_at(document, "pull_request", "head", "sha"),
    )


def git(*words: str) -> str | None:
    """What git prints, or nothing when it fails."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def commit_of(name: str) -> str | None:
    """The commit of that name, fetched when it is not there. A branch that only `origin` has is found as well."""
    if not name or name.startswith("-") or name == NO_COMMIT:
        return None
    found = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if not found and git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", name) is not None:
        found = git("rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
    if found and git("rev-parse", "--is-shallow-repository") == "true":
        git("update-ref", KEPT, found)  # a copy of a shallow repository holds only what a branch leads to
    return found


def parents() -> list[str]:
    """The parents of HEAD, as the commit itself names them: a shallow checkout has them in name only."""
    raw = (git("cat-file", "-p", "HEAD") or "").split("\n\n")[0]
    return re.findall(r"^parent ([0-9a-f]+)$", raw, re.MULTILINE)


def other_commit(event: Event) -> str | None:
    """The commit that HEAD is held against when none is asked for."""
    above = parents()
    merged = len(above) > 1 and git("rev-parse", "HEAD") == os.environ.get("GITHUB_SHA")
    wanted = [event.before, *above[:1]]
    if event.is_pull_request:
        wanted = [above[0]] if merged else [git("merge-base", "HEAD", event.base) or event.base, *above[:1]]
    return next((found for name in wanted if (found := commit_of(name))), None)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for gate.json and report.md")
    parser.add_argument("--program", default="", help="gapless, when it is not on the PATH")
    parser.add_argument("--mode", default="", help="against (another commit, in pairs) or history")
    parser.add_argument("--command", default="", help="what to measure, for bash")
    parser.add_argument("--results", default="", help="a file of results instead, for mode history")
    parser.add_argument("--build", default="", help="for a shell, once in each commit's checkout")
    parser.add_argument("--baseline", default="", help="a commit or branch (against), a branch (history)")
    parser.add_argument("--threshold", default="", help="the size of change that matters")
    parser.add_argument("--db", default="", help="where the history is")
    parser.add_argument("--label", default="", help="name of what is measured")
    parser.add_argument("--options", default="", help="more options of gapless gate, in one word")
    given = parser.parse_args()
    given.mode = given.mode or "against"
    given.label = given.label or "benchmark"
    if given.mode not in ("against", "history"):
        parser.error(f"mode is against or history, not {given.mode!r}")
    if bool(given.command) == bool(given.results):
        parser.error("give either a command or results")
    if given.results and given.mode == "against":
        parser.error("results that are there already are judged by mode history")
    return given


def gate_words(given: argparse.Namespace, event: Event) -> tuple[list[str], bool]:
    """The words after `gapless gate`, and whether the result is recorded."""
    words = [f"--json={given.output / 'gate.json'}", "--format", "markdown"]
    if given.threshold:
        words += ["--threshold", given.threshold]
    record = False
    if given.mode == "against":
        other = commit_of(given.baseline) if given.baseline else other_commit(event)
        if other is None:
            raise LookupError(f"there is no commit {given.baseline or 'before this one'} to compare with")
        words += ["--against", other]
        words += ["--build", given.build] if given.build else []
    else:
        branch = given.baseline or event.default_branch
        record = bool(event.name) and not event.is_pull_request and event.ref == f"refs/heads/{branch}"
        words += ["--label", given.label, "--baseline", branch]
        words += ["--db", given.db] if given.db else []
        words += ["--record", "--branch", branch] if record else []
        words += [given.results] if given.results else []
    words += shlex.split(given.options)
    return words + (["--", "bash", "-c", given.command] if given.command else []), record


@dataclass
class Answer:
    status: int
    document: dict[str, Any]  # empty: there is no answer
    report: str


def ask(given: argparse.Namespace, event: Event) -> tuple[Answer, bool]:
    """Runs the gate; one run gives both the JSON and the Markdown."""
    given.output.mkdir(parents=True, exist_ok=True)
    file = given.output / "gate.json"
    file.unlink(missing_ok=True)
    words, record = gate_words(given, event)
    environment = {name: value for name, value in os.environ.items() if not PRIVATE.fullmatch(name)}
    program = str(Path(given.program).resolve()) if given.program else "gapless"
    try:
        done = subprocess.run(
            [program, "gate", *words], env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as problem:
        return Answer(4, {}, no_answer(f"{program} cannot be run: {problem.strerror}")), False
    print_inert(done.stdout + done.stderr)
    document = document_in(file)
    if done.returncode in (0, 1) and document:
        return Answer(done.returncode, document, done.stdout), record
    return Answer(max(done.returncode, 2), {}, no_answer(done.stderr or done.stdout)), False


def no_answer(why: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", why)), default=0))
    return f"### Performance: not measured\n\n{fence}text\n{why[-TAIL:].strip()}\n{fence}\n"


def print_inert(text: str) -> None:
    """Prints it so that no line of it is a command to the runner."""
    if not os.environ.get("GITHUB_ACTIONS"):
        print(text, end="", flush=True)
        return
    word = secrets.token_hex(16)
    print(f"::stop-commands::{word}\n{text.rstrip()}\n::{word}::", flush=True)


def number(value: Any, unit: str) -> str:
    return f"{value:.6g}{' ' + unit if unit else ''}" if isinstance(value, (int, float)) else "unknown"


def sentence(metric: dict[str, Any]) -> str:
    """What was said of one metric."""
    unit = str(metric.get("unit") or "")
    text = f"{metric.get('metric')}: {number(metric.get('current'), unit)}"
    if isinstance(metric.get("baseline"), (int, float)):
        text += f", baseline {number(metric['baseline'], unit)}"
    if isinstance(metric.get("change"), (int, float)):
        text += f" ({100 * metric['change']:+.1f} %)"
    text += ": " + str(metric.get("verdict")).replace("_", " ")
    return text + (f", {metric['reason']}" if metric.get("reason") else "")


def escaped(text: str, is_property: bool = False) -> str:
    """As a workflow command wants its text, or the value of one of its properties."""
    for char in "%\r\n" + (":," if is_property else ""):
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def remarks(label: str, answer: Answer) -> list[str]:
    title = escaped(f"gapless: {label}", is_property=True)
    if not answer.document.get("metrics"):
        word = "error" if answer.status else "warning"
        return [f"::{word} title={title}::there is no answer; the report says why"]
    level = {"regression": "error", "cannot_tell": "warning"}
    metrics = [m for m in answer.document.get("metrics", []) if isinstance(m, dict)]
    return [f"::{level.get(str(m.get('verdict')), 'notice')} title={title}::{escaped(sentence(m))}" for m in metrics]


def footer(label: str, event: Event) -> str:
    """Which commit the report is of, and where the job is."""
    commit = event.head or os.environ.get("GITHUB_SHA", "") or git("rev-parse", "HEAD") or ""
    parts = [re.sub(r"[`\n]", "", label), commit[:10]]
    home, place, run = (os.environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    if home and place and run:
        parts.append(f"[job]({home}/{place}/actions/runs/{run})")
    return "\n" + " · ".join(part for part in parts if part) + "\n"


def append(variable: str, text: str) -> None:
    """To the file that the runner names in this variable, when there is a runner."""
    if path := os.environ.get(variable):
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)


def main() -> int:
    given = options()
    event = current_event()
    record = False
    try:
        answer, record = ask(given, event)
    except LookupError as problem:
        # A first commit has nothing before it: that is no failure, unless a commit was asked for.
        document = {} if given.baseline else {"verdict": "cannot_tell"}
        answer = Answer(3 if given.baseline else 0, document, no_answer(str(problem)))
    report = given.output / "report.md"
    given.output.mkdir(parents=True, exist_ok=True)
    text = answer.report + footer(given.label, event)
    report.write_text(text, encoding="utf-8")
    delta = answer.document.get("performance_delta")
    outputs = {
        "verdict": str(answer.document.get("verdict", "error")),
        "regression": "true" if answer.document.get("regression_detected") is True else "false",
        "performance_delta": f"{delta:.6g}" if isinstance(delta, (int, float)) else "",
        "report": str(report.resolve()),
        "recorded": "true" if record else "false",
    }
    append("GITHUB_OUTPUT", "".join(f"{key}={value}\n" for key, value in outputs.items()))
    append("GITHUB_STEP_SUMMARY", text)
    if os.environ.get("GITHUB_ACTIONS"):
        print("\n".join(remarks(given.label, answer)))
    return answer.status


if __name__ == "__main__":
    sys.exit(main())
