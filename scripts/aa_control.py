#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often does the gate raise an alarm on this machine when nothing changed? Compares a commit with itself, again and again.

Each run is `gapless gate --against HEAD` on a clean working tree, so that every regression it sees is a false alarm. The runs are
added to a file of JSON lines, one each, and counted together with those before them that had the same command and options: kept
over weeks, the file says what the stated rate of false alarms is worth here.

With k alarms in n runs the bounds are those of Clopper and Pearson (Biometrika 26, 1934). The upper bound is the rate at which k
alarms or fewer have a probability of 5 %; when it is not above the stated rate, that rate *holds*. The lower bound is the rate at
which k alarms or more have a probability of 1 % (not 5 %, since one looks again every week); when it is above the stated rate, that
rate is *exceeded*, and the exit status is 1. Between the two the runs show neither.

usage: aa_control.py --counts FILE [--runs N] [--program PATH] [--options WORDS] -- COMMAND...
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHOWN = 0.95  # confidence of the upper bound
EXCEEDED = 0.99  # confidence of the lower bound
VERDICTS = ("fine", "regression", "improvement", "cannot_tell")


def probability_up_to(k: int, n: int, rate: float) -> float:
    """P(X <= k) of the binomial distribution; by logarithms, so that n may be thousands."""
    if k >= n or rate <= 0:
        return 1.0
    if rate >= 1 or k < 0:
        return 0.0
    log_n, up, down = math.lgamma(n + 1), math.log(rate), math.log1p(-rate)
    terms = (log_n - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * up + (n - i) * down for i in range(k + 1))
    return min(1.0, math.fsum(math.exp(term) for term in terms))


def upper_bound(k: int, n: int, confidence: float) -> float:
    """The rate at which k or fewer of n have the probability 1 - confidence (Clopper and Pearson 1934)."""
    low, high = 0.0, 1.0
    if k >= n:
        return 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if probability_up_to(k, n, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def lower_bound(k: int, n: int, confidence: float) -> float:
    """The rate at which k or more of n have the probability 1 - confidence."""
    return 1 - upper_bound(n - k, n, confidence) if k > 0 else 0.0


def runs_needed(stated: float) -> int:
    """How many runs without an alarm show that the rate holds."""
    return math.ceil(math.log(1 - SHOWN) / math.log1p(-stated))


@dataclass
class Control:
    counts: Counter[str]
    stated: float
    damaged: int = 0  # lines of the file that are not of this script

    @property
    def runs(self) -> int:
        return sum(self.counts.values())

    @property
    def alarms(self) -> int:
        return self.counts["regression"]

    def verdict(self) -> str:
        if self.runs and lower_bound(self.alarms, self.runs, EXCEEDED) > self.stated:
            return "exceeded"
        return "holds" if upper_bound(self.alarms, self.runs, SHOWN) <= self.stated else "not shown yet"

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"runs": self.runs, "false_alarms": self.alarms, "stated_rate": self.stated}
        document.update({name: self.counts[name] for name in ("fine", "improvement", "cannot_tell")})
        if self.runs:
            document["rate"] = self.alarms / self.runs
            document["upper_bound_95"] = upper_bound(self.alarms, self.runs, SHOWN)
            document["lower_bound_99"] = lower_bound(self.alarms, self.runs, EXCEEDED)
        return {**document, "verdict": self.verdict()}

    def text(self) -> str:
        if not self.runs:
            return "no comparison of a commit with itself yet\n"
        upper = upper_bound(self.alarms, self.runs, SHOWN)
        said = {
            "holds": f"the stated {100 * self.stated:g} % holds",
            "exceeded": f"the stated {100 * self.stated:g} % is exceeded",
            "not shown yet": f"agrees with the stated {100 * self.stated:g} %, which is not shown yet"
            f" ({runs_needed(self.stated)} runs without an alarm show it)",
        }[self.verdict()]
        text = (
            f"{self.alarms} false alarms in {self.runs} comparisons of a commit with itself"
            f" ({100 * self.alarms / self.runs:.1f} %, at most {100 * upper:.1f} % at 95 % confidence): {said}\n"
            f"{self.counts['fine']} fine, {self.counts['improvement']} an improvement,"
            f" {self.counts['cannot_tell']} could not tell\n"
        )
        return text + (f"{self.damaged} lines of the counts cannot be read and are left out\n" if self.damaged else "")


def read(path: Path, setting: str) -> Control:
    """What the file holds of this command and these options."""
    control = Control(Counter(), stated=0.05)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    for line in lines:
        try:
            run = json.loads(line)
            verdict, stated = run["verdict"], run["stated_rate"]
        except (ValueError, TypeError, KeyError):
            control.damaged += 1
            continue
        if verdict not in VERDICTS or not isinstance(stated, float) or not 0 < stated < 1:
            control.damaged += 1
        elif run.get("setting") == setting:
            control.counts[verdict] += 1
            control.stated = stated
    return control


def compare(given: argparse.Namespace) -> dict[str, Any]:
    """One comparison of HEAD with itself."""
    words = [given.program, "gate", "--against", "HEAD", "--json", *shlex.split(given.options), "--", *given.command]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{shlex.join(words)} failed with {done.returncode}:\n{done.stderr.strip()}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--counts", type=Path, required=True, help="JSON lines, added to")
    parser.add_argument("--runs", type=int, default=20, help="comparisons to add; 0 only counts")
    parser.add_argument("--program", default="gapless")
    parser.add_argument("--options", default="", help="options of gapless gate, in one word")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("command", nargs="*", help="what to measure")
    given = parser.parse_args()
    if given.runs > 0 and not given.command:
        parser.error("name a command after --")
    if given.runs > 0 and git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("the working tree has changes: HEAD is not compared with itself")
    setting = hashlib.sha256(json.dumps([given.options, given.command]).encode()).hexdigest()[:16]
    given.counts.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(given.runs):
        found = compare(given)
        run = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "commit": git("rev-parse", "HEAD"),
            "setting": setting, "verdict": found["verdict"], "stated_rate": found["false_alarm_rate"],
            "pairs": found["metrics"][0]["runs"],
        }  # fmt: skip
        with open(given.counts, "a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")
    control = read(given.counts, setting)
    print(json.dumps(control.document(), indent=2) if given.json else control.text(), end="\n" if given.json else "")
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"### A/A control of the gate\n\n{control.text()}")
    return 1 if control.verdict() == "exceeded" else 0


if __name__ == "__main__":
    sys.exit(main())
