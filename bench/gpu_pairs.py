#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts the changes that other people measured on their GPUs, bench/gpu_pairs.toml, and writes the rows of the ledger of advice.

usage, with the environment variable GAPLESS_MIRRORS naming a folder of clones:
  gpu_pairs.py PROGRAM --predict [ID...]   asks the program of each recording from before the change, and writes the ledger's rows
  gpu_pairs.py PROGRAM --table [ID...]     prints for each pair what the program says now, the truth, and whether the interval held
  gpu_pairs.py PROGRAM --kinds             prints how well the ledger's rows predict a repository that calibration has not seen

A clone is found as owner+name, owner__name or owner/name in that folder, bare or not: `git clone --bare
https://github.com/OWNER/NAME owner+name` makes one. A recording is copied out of it at the commit for the time of one question. Where
a clone is not there, the ledger keeps what it has.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import advice_kinds
import advice_pairs
from advice_ledger import DIGITS, LEAST_RATIO, Range, Row, kind_of

FACTS = Path(__file__).resolve().parent / "gpu_pairs.toml"
LIMIT_S = 180
MACHINE = "gpu"


@dataclass(frozen=True)
class GpuPair:
    id: str
    repository: str  # owner/name
    commit: str
    before: str  # path of the recording in the repository
    what: str  # the change as `gapless predict --what` takes it
    device: str
    before_ms: float
    after_ms: float
    speedup: float  # of a sample; not before_ms / after_ms where the batch differs
    confidence: str
    source: str  # "pair": both sides recorded; "table": the repository publishes the time after
    note: str
    span: str = "step"  # "run": before_ms and after_ms are from the first to the last CUDA call or GPU operation

    def row(self, found: Range | None) -> Row:
        owner, name = self.repository.split("/")
        plain = Row(
            id=self.id, what=self.what, kind=kind_of(self.what), recording=f"{owner}__{name}/{self.before}",
            device=self.device, measured_ratio=round(1 / self.speedup, DIGITS), measured_low=None, measured_high=None,
            predicted_low=None, predicted_expected=None, predicted_high=None, source=self.source, date="unknown",
            repository=f"{self.repository}@{self.commit}", machine=MACHINE, confidence=self.confidence, note=self.note,
        )  # fmt: skip
        return plain.with_prediction(found)


@dataclass(frozen=True)
class Answer:
    model: Range | None  # ratios of the step, before calibration
    told: Range | None  # ratios of the step, as the program prints them
    reason: str  # why there is no prediction

    @property
    def speedup(self) -> Range | None:
        return Range(1 / self.told.high, 1 / self.told.expected, 1 / self.told.low) if self.told else None


def facts() -> list[GpuPair]:
    if sys.version_info < (3, 11):
        raise SystemExit("gpu_pairs.py needs Python 3.11 or newer")
    document = importlib.import_module("tomllib").loads(FACTS.read_text(encoding="utf-8"))
    return [GpuPair(**entry) for entry in document["pair"]]


def clone_of(repository: str, mirrors: Path) -> Path | None:
    """The git folder of a repository, or None."""
    for name in (repository.replace("/", "+"), repository.replace("/", "__"), repository):
        for inner in (".git", "repo/.git", "repo", "."):
            if (mirrors / name / inner / "HEAD").is_file():
                return mirrors / name / inner
    return None


@contextmanager
def recording_of(pair: GpuPair, mirrors: Path) -> Iterator[Path | None]:
    """The recording from before the change, in a folder of its own; None: no clone holds it."""
    clone = clone_of(pair.repository, mirrors)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(pair.before).name
        command = ["git", f"--git-dir={clone}", "show", f"{pair.commit}:{pair.before}"]
        with open(path, "wb") as file:
            done = clone and subprocess.run(command, check=False, stdout=file, stderr=subprocess.DEVNULL)
        yield path if done and done.returncode == 0 else None


def of_run(pair: GpuPair, step_ns: float, ratio: Range) -> Range:
    """A ratio of the analysed steps as one of what was measured: of a whole run, start and end are not analysed and stay as they are."""
    share = min(1.0, step_ns / (pair.before_ms * 1e6)) if pair.span == "run" else 1.0
    return Range(*(1 - share * (1 - factor) for factor in (ratio.low, ratio.expected, ratio.high)))


def _range(named: dict[str, float], step_ns: float = 1) -> Range:
    return Range(*(max(LEAST_RATIO, named[name] / step_ns) for name in ("low", "expected", "high")))


def ask(program: Path, recording: Path, pair: GpuPair) -> Answer:
    command = [str(program), "predict", str(recording), "--what", pair.what, "--json", "--no-cache"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT_S)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return Answer(None, None, (done.stderr.strip().splitlines() or ["no answer"])[0])
    if not answer.get("predictions"):
        return Answer(None, None, answer.get("reason", "nothing is predicted"))
    (prediction,) = answer["predictions"]
    if prediction.get("step_ns") is None:
        no_effect = "; ".join(prediction.get("no_effect", []))
        return Answer(None, None, prediction.get("reason", no_effect or "no time given"))
    told = _range(prediction["step_ns"], answer["step_ns"])
    model = _range(prediction["model"]) if prediction.get("model") else told
    return Answer(of_run(pair, answer["step_ns"], model), of_run(pair, answer["step_ns"], told), "")


def answers(program: Path, pairs: Sequence[GpuPair], mirrors: Path) -> Iterator[tuple[GpuPair, Answer | None]]:
    """None: the recording is not there."""
    for pair in pairs:
        with recording_of(pair, mirrors) as recording:
            yield pair, ask(program, recording, pair) if recording else None


def line_of(pair: GpuPair, answer: Answer | None) -> str:
    """A row of the table; speedups of a sample."""
    start = f"| `{pair.id}` | `{pair.what}` |"
    if answer is None:
        return f"{start} | {pair.speedup:.3f} | | no clone holds the recording |"
    said = answer.speedup
    if said is None:
        return f"{start} refused | {pair.speedup:.3f} | | {answer.reason} |"
    held = "held" if said.low <= pair.speedup <= said.high else "missed"
    return f"{start} {said.expected:.2f} ({said.low:.2f} to {said.high:.2f}) | {pair.speedup:.3f} | {held} | {pair.confidence} |"


def write(program: Path, pairs: Sequence[GpuPair], mirrors: Path) -> None:
    old = {row.id: row for row in advice_pairs.read()}
    new = []
    for pair, answer in answers(program, pairs, mirrors):
        kept = old[pair.id].predicted if pair.id in old else None
        new.append(pair.row(answer.model if answer else kept))
    named = {pair.id for pair in pairs}
    advice_pairs.write([row for row in old.values() if row.id not in named] + new)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--predict", nargs="*", metavar="ID")
    parser.add_argument("--table", nargs="*", metavar="ID")
    parser.add_argument("--kinds", action="store_true")
    given = parser.parse_args()
    mirrors = Path(os.environ.get("GAPLESS_MIRRORS", "."))
    program = given.program.resolve()
    if given.predict is not None:
        write(program, [pair for pair in facts() if pair.id in given.predict or not given.predict], mirrors)
    if given.table is not None:
        print("| pair | asked | predicted | truth | interval | confidence, or why refused |\n|---|---|---|---|---|---|")
        wanted = [pair for pair in facts() if pair.id in given.table or not given.table]
        for pair, answer in answers(program, wanted, mirrors):
            print(line_of(pair, answer), flush=True)
    if given.kinds:
        print(advice_kinds.table(advice_pairs.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
