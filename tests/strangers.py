#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training scripts of others, unmodified, under gapless: are their steps counted, and does the loop from slow to proven hold?

usage: strangers.py PROGRAM [PYTHON] [--stage steps|loop] [--only NAME,...] [--checkout DIR] [--mirror DIR] [--budget 4m] [--out FILE]

tests/strangers.toml names them. They are fetched from GitHub into --checkout, or from git directories OWNER+NAME below --mirror. PYTHON (or GAPLESS_STRANGERS_PYTHON) has
PyTorch and what the scripts import (tests/agent/frameworks/requirements.txt). Nothing of this runs in CI: it needs the network, and an hour of a quiet machine.

  steps   profiles each script and compares the steps counted with those stated
  loop    profile, analyze, optimize, run, validate, gate, and five alternating runs of the bare command and of the recipe: one row each
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import re
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
GITHUB = "https://github.com"
TIMEOUT_S = 900


class Script:
    def __init__(self, about: dict[str, Any], given: argparse.Namespace) -> None:
        self.about, self.name = about, str(about["name"])
        self.given = given
        self.root = Path(given.checkout) / str(about["repository"]).replace("/", "+")
        self.folder = self.root / about["folder"]
        self.command = [given.python, *shlex.split(about["command"])]
        self.scratch = Path(given.checkout) / "results" / self.name
        self.environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        self.environment.update(about.get("environment", {}))
        if "pythonpath" in about:
            self.environment["PYTHONPATH"] = str(self.root / about["pythonpath"])

    def fetch(self) -> None:
        if not self.root.exists():
            repository = str(self.about["repository"])
            source = Path(self.given.mirror) / repository.replace("/", "+") / "repo" if self.given.mirror else None
            url = str(source) if source is not None and source.exists() else f"{GITHUB}/{repository}"
            subprocess.run(["git", "clone", "--quiet", "--no-checkout", url, str(self.root)], check=True)
        without = [f":!{path}" for path in self.about.get("without", [])]
        files = self.about.get("files", [self.about["folder"]])
        wanted = ["checkout", "--quiet", str(self.about["commit"]), "--", *map(str, files), *without]
        subprocess.run(["git", "-C", str(self.root), *wanted], check=True)
        for line in self.about.get("prepare", []):
            self.prepare(*line.split())

    def prepare(self, what: str, *words: str) -> None:
        if what == "run":
            subprocess.run([self.given.python, *words], cwd=self.folder, check=True, env=self.environment)
        elif what == "data":  # with the packages of the scripts
            subprocess.run([self.given.python, HERE / "strangers_data.py", *words], cwd=self.folder, check=True)
        elif what == "copy":
            shutil.copyfile(self.folder / words[0], self.folder / words[1])
        elif what == "folder":
            (self.folder / words[0]).mkdir(exist_ok=True)
        elif what == "mnist":
            write_mnist(self.folder / words[0], int(words[1]))
        elif what == "text":
            write_text(self.folder / words[0], int(words[1]))
        else:
            raise ValueError(what)

    def run(self, *words: str, timeout: float = TIMEOUT_S) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(words),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )

    def gapless(self, verb: str, *words: str, timeout: float = TIMEOUT_S) -> tuple[int, dict[str, Any], str]:
        """The exit status, the JSON and what was said on standard error."""
        answer = self.scratch / f"{verb}.json"
        answer.unlink(missing_ok=True)
        done = self.run(self.given.program, verb, f"--json={answer}", *words, timeout=timeout)
        (self.scratch / f"{verb}.txt").write_text(done.stdout + done.stderr)
        found = json.loads(answer.read_text()) if answer.exists() and answer.stat().st_size else {}
        return done.returncode, found, done.stderr


def write_mnist(folder: Path, count: int) -> None:
    """Files as those of MNIST, with a pattern of each digit that can be learned."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for part, samples in (("train", count), ("t10k", 1000)):
        labels = bytes((index * 7 + index // 10) % 10 for index in range(samples))
        patterns = [
            bytes((x * (digit + 3) + y * 5) % 256 if (x + y + digit) % 4 else 0 for y in range(28) for x in range(28))
            for digit in range(10)
        ]
        images = struct.pack(">IIII", 2051, samples, 28, 28) + b"".join(patterns[label] for label in labels)
        for name, data in (
            (f"{part}-images-idx3-ubyte", images),
            (f"{part}-labels-idx1-ubyte", struct.pack(">II", 2049, samples) + labels),
        ):
            (raw / name).write_bytes(data)
            (raw / f"{name}.gz").write_bytes(gzip.compress(data, 1))


def write_text(path: Path, words: int) -> None:
    """English-like text of so many words."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = [
        "the",
        "of",
        "and",
        "to",
        "a",
        "in",
        "that",
        "is",
        "was",
        "he",
        "for",
        "it",
        "with",
        "as",
        "his",
        "on",
        "be",
        "at",
        "by",
        "had",
        "not",
        "are",
        "but",
        "from",
        "or",
        "have",
        "an",
        "they",
    ]
    state, lines = 1, []
    for start in range(0, words, 12):
        line = []
        for _ in range(min(12, words - start)):
            state = (state * 1103515245 + 12345) % (1 << 31)
            line.append(known[(state >> 16) % len(known)])
        lines.append(" ".join(line))
    path.write_text("\n".join(lines) + "\n")


def expected_steps(script: Script, output: str) -> int | None:
    if "steps" in script.about:
        return int(script.about["steps"])
    found = re.search(script.about["printed"], output)
    return int(found.group(1)) if found else None


def stage_steps(script: Script) -> dict[str, Any]:
    run = script.scratch / "profile"
    shutil.rmtree(run, ignore_errors=True)
    began = time.perf_counter()
    done = script.run(script.given.program, "profile", "-o", str(run), "--", *script.command)
    took = time.perf_counter() - began
    manifest = json.loads((run / "manifest.json").read_text()) if (run / "manifest.json").exists() else {}
    counted = max((int(process.get("steps", 0)) for process in manifest.get("processes", [])), default=0)
    said = [line for line in done.stderr.splitlines() if "no longer watches" in line or "switched itself off" in line]
    expected = expected_steps(script, done.stdout)
    return {
        "name": script.name, "kind": script.about["kind"], "exit": done.returncode, "expected": expected, "counted": counted,
        "right": counted == expected and done.returncode == 0 and not said, "errors": said, "took_s": round(took, 1),
    }  # fmt: skip


def mean_step_ms(script: Script, command: list[str]) -> float | None:
    _, found, _ = script.gapless("bench", "--warmup", "5", "--steps", "60", "--", *command)
    value = found.get("metrics", {}).get("step_time_ms")
    return float(value) if value else None


def stage_loop(script: Script) -> dict[str, Any]:
    row = stage_steps(script)
    _, analysis, _ = script.gapless("analyze", str(script.scratch / "profile"))
    row["first_finding"] = next((finding["title"] for finding in analysis.get("bottlenecks", [])), "")
    optimized = script.scratch / "optimized"
    shutil.rmtree(optimized, ignore_errors=True)
    began = time.perf_counter()
    status, found, _ = script.gapless(
        "optimize", "--budget", script.given.budget, "-o", str(optimized), "--", *script.command
    )
    row.update(optimize_exit=status, optimize_s=round(time.perf_counter() - began, 1))
    row["kept"] = [fix["fix"] for fix in found.get("applied", [])]
    row["claimed"] = found.get("speedup") if status == 0 else None
    recipe = optimized / "optimized.json"
    if recipe.exists():
        below = [script.given.program, "run", "--recipe", str(recipe), "--", *script.command]
        pairs = [(mean_step_ms(script, script.command), mean_step_ms(script, below)) for _ in range(5)]
        ratios = [bare / fixed for bare, fixed in pairs if bare and fixed]
        row["measured_again"] = (
            [round(statistics.median(ratios), 3), round(min(ratios), 3), round(max(ratios), 3)] if ratios else []
        )
        history = f"sqlite:{script.scratch}/history.db"
        for verb, label in (("validate", "validate"),):
            status, found, _ = script.gapless(
                verb, "--db", history, "--budget", "5m", "--", *script.command, "--", *below
            )
            row[label] = {
                "exit": status,
                "verdict": found.get("verdict"),
                "speedup": found.get("speedup"),
                "training": found.get("training", {}).get("verdict"),
                "against": found.get("reasons_against"),
            }
        status, _, _ = script.gapless("gate", "--db", history, "--", *below)
        row["gate"] = status
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("python", nargs="?", default=os.environ.get("GAPLESS_STRANGERS_PYTHON", ""))
    parser.add_argument("--stage", choices=("steps", "loop"), default="steps")
    parser.add_argument("--only", default="")
    parser.add_argument("--checkout", default="build/strangers")
    parser.add_argument("--mirror", default="")
    parser.add_argument("--budget", default="4m")
    parser.add_argument("--out", default="")
    given = parser.parse_args()
    given.program, given.checkout = os.path.abspath(given.program), os.path.abspath(given.checkout)
    given.python = os.path.abspath(given.python) if given.python else ""
    if not given.python:
        print("skipped: name the Python that has what the scripts import, or set GAPLESS_STRANGERS_PYTHON")
        return 77
    if sys.version_info < (3, 11):
        print("skipped: this needs Python 3.11, which reads TOML")
        return 77
    tomllib = importlib.import_module("tomllib")

    scripts = [Script(about, given) for about in tomllib.loads((HERE / "strangers.toml").read_text())["script"]]
    wrong = 0
    for script in scripts:
        if given.only and script.name not in given.only.split(","):
            continue
        try:
            script.fetch()
            script.scratch.mkdir(parents=True, exist_ok=True)
            row = stage_steps(script) if given.stage == "steps" or script.about.get("slow") else stage_loop(script)
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            row = {"name": script.name, "right": False, "error": f"{type(error).__name__}: {error}"}
        wrong += not row["right"]
        line = json.dumps(row)
        print(line, flush=True)
        if given.out:
            with open(given.out, "a", encoding="utf-8") as file:
                file.write(line + "\n")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
