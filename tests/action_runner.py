# SPDX-License-Identifier: Apache-2.0
"""Runs a composite GitHub action as its runner does, as far as action.yml needs it: inputs and their defaults, `if`, `env`,
outputs, `working-directory`, steps in bash, and actions/cache with a folder in its place. What it does not know is an error."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
REFERENCE = re.compile(r"\b(?:inputs|steps|github)\.[\w.-]+")


@dataclass
class Outcome:
    status: int  # of the first step that failed, else 0
    log: str
    outputs: dict[str, str]
    summary: str
    steps: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass
class Runner:
    """`folder` holds the runner's files, `cache` what actions/cache keeps between runs."""

    action: Path  # the folder of action.yml
    folder: Path
    cache: Path
    environment: dict[str, str]
    inputs: dict[str, str] = field(default_factory=dict)
    steps: dict[str, dict[str, str]] = field(default_factory=dict)

    def value(self, reference: str) -> str:
        room, *names = reference.split(".")
        if room == "inputs":
            return self.inputs[names[0]]
        if room == "github":
            return {"token": "secret-token"}[names[0]]
        return self.steps.get(names[0], {}).get(names[2], "")

    def text(self, template: Any) -> str:
        return EXPRESSION.sub(lambda found: self.value(found[1]), str(template))

    def holds(self, condition: str) -> bool:
        """An `if` of references, texts, ==, != and &&."""
        words = REFERENCE.sub(lambda found: repr(self.value(found[0])), condition)
        parts = [re.fullmatch(r"\s*'(.*?)' (==|!=) '(.*?)'\s*", part) for part in words.split("&&")]
        if not all(parts):
            raise ValueError(f"a condition that the test does not know: {condition}")
        return all((part[1] == part[3]) == (part[2] == "==") for part in parts if part)

    def run(self, work: Path, given: dict[str, str]) -> Outcome:
        document = yaml.safe_load((self.action / "action.yml").read_text(encoding="utf-8"))
        unknown = set(given) - set(document["inputs"])
        if unknown:
            raise ValueError(f"inputs that the action does not have: {unknown}")
        self.steps = {}
        self.inputs = {
            name: given.get(name, self.text(spec.get("default", ""))) for name, spec in document["inputs"].items()
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        summary = self.folder / "summary"
        summary.write_text("")
        log, status = "", 0
        for number, step in enumerate(document["runs"]["steps"]):
            if "if" in step and not self.holds(step["if"]):
                continue
            if "uses" in step:
                self.cached(step)
                continue
            done = self.bash(step, number, work, summary)
            log += done.stdout
            if done.returncode != 0:
                status = done.returncode
                break
        outputs = {name: self.text(spec["value"]) for name, spec in document["outputs"].items()}
        return Outcome(status, log, outputs, summary.read_text(), self.steps)

    def bash(self, step: dict[str, Any], number: int, work: Path, summary: Path) -> subprocess.CompletedProcess[str]:
        script = self.folder / f"step{number}.sh"
        script.write_text(self.text(step["run"]))
        output = self.folder / f"output{number}"
        output.write_text("")
        environment = {
            **self.environment, "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(self.folder),
            "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
            **{name: self.text(value) for name, value in step.get("env", {}).items()},
        }  # fmt: skip
        if step["shell"] != "bash":
            raise ValueError("a composite action names bash in each step")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=work / self.text(step.get("working-directory", ".")), env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip
        pairs = [line.partition("=") for line in output.read_text().splitlines()]
        self.steps[step.get("id", f"step{number}")] = {key: value for key, _, value in pairs}
        return done

    def cached(self, step: dict[str, Any]) -> None:
        """Keys are names of folders. As with the real one a key is written once, and the newest of a prefix is found."""
        kind = re.fullmatch(r"actions/cache/(restore|save)@[0-9a-f]{40}", step["uses"])
        if not kind:
            raise ValueError(f"an action that the test does not know: {step['uses']}")
        path = Path(self.text(step["with"]["path"]).replace("~", self.environment["HOME"], 1))
        key = self.text(step["with"]["key"])
        self.cache.mkdir(exist_ok=True)
        kept = self.cache / key
        if kind[1] == "save":
            if not kept.exists():
                shutil.copytree(path, kept)
            return
        prefix = self.text(step["with"].get("restore-keys", ""))
        others = sorted(self.cache.glob(f"{prefix}*"), key=os.path.getctime) if prefix else []
        shutil.rmtree(path, ignore_errors=True)  # each job begins on a new machine
        found = kept if kept.exists() else others[-1] if others else None
        if found:
            shutil.copytree(found, path)
        self.steps[step.get("id", key)] = {"cache-hit": "true" if kept.exists() else ""}
