# SPDX-License-Identifier: Apache-2.0
"""Finds what `gapless predict` says of a schedule's recording, beside what is true of its program."""

from __future__ import annotations

import heapq
import json
import re
import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.changes import changed
from simulator.kineto import written
from simulator.machine import simulate
from simulator.recording import recorded
from simulator.schedules import Schedule, schedule

LIMIT_S = 60  # for one recording
WORST = 8  # answers that are shown
MATTERS = 0.02  # of a step: what a change brings, or costs, to count as more than nothing
TIE = 0.01  # of a step: programs this close are equally fast


@dataclass(frozen=True)
class Answer:
    """An Answer is about one change; lengths of a step are shares of the unchanged one."""

    what: str
    predicted: float | None  # None: no prediction
    true: float

    @property
    def error(self) -> float | None:
        return None if self.predicted is None else abs(self.predicted / self.true - 1)

    @property
    def single(self) -> bool:
        """One thing, for the better: what a list of fixes has in it."""
        return self.what == "sync" or "," not in self.what and float(self.what.rpartition("=")[2]) < 1

    def __str__(self) -> str:
        predicted = "nothing" if self.predicted is None else f"{self.predicted:.4f}"
        return f"{self.what}: predicted {predicted}, true {self.true:.4f}"


@dataclass(frozen=True)
class Outcome:
    number: int
    kind: str
    refused: str  # why; "" when the recording was accepted
    step_share: float  # the recording's step as gapless sees it, over the true one
    answers: tuple[Answer, ...]

    def best(self) -> bool | None:
        """Returns true if the change ranked first is truly the best of those that one may ask for; None: fewer than two are ranked."""
        single = [one for one in self.answers if one.single]
        ranked = [(one.predicted, one.true) for one in single if one.predicted is not None]
        if len(ranked) < 2:
            return None
        return min(ranked)[1] <= min(one.true for one in single) + TIE

    def text(self) -> str:
        told = f"schedule {self.number}, {self.kind}: "
        told += self.refused or f"recorded step {self.step_share:.4f} of the true one"
        return "\n".join([told, *(f"  {one}" for one in self.answers)])


def predict(program: Path, recording: Path, changes: Sequence[str]) -> dict[str, Any]:
    command = [str(program), "predict", str(recording), "--no-cache", "--json"]
    for what in changes:
        command += ["--what", what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}") from None
    return document


def asked(schedule: Schedule, said: dict[str, Any]) -> Outcome:
    """Returns what was said of a schedule's recording, beside the truth: of the program that nobody records."""
    if not said["accepted"]:
        return Outcome(schedule.number, schedule.kind, str(said["reason"]), 0, ())
    unchanged = simulate(schedule.program).step_ns()
    answers = []
    for what, prediction in zip(schedule.changes, said["predictions"]):
        true = simulate(changed(schedule.program, what)).step_ns() / unchanged
        predicted = prediction["step_ns"]["expected"] / said["step_ns"] if "step_ns" in prediction else None
        answers.append(Answer(what, predicted, true))
    as_recorded = simulate(recorded(schedule.program)).step_ns()
    return Outcome(schedule.number, schedule.kind, "", said["step_ns"] / as_recorded, tuple(answers))


def record(schedule: Schedule, folder: Path) -> Path:
    path = folder / f"{schedule.number}.{schedule.kind.replace(' ', '_')}.pt.trace.json"
    run = simulate(recorded(schedule.program))
    path.write_text(written(run, schedule.recorder, schedule.program.first_step), encoding="utf-8")
    return path


def judge(program: Path, number: int, keep: Path | None = None) -> Outcome:
    """Writes the recording of a schedule (into `keep`, or to be deleted), asks, and compares."""
    one = schedule(number)
    with tempfile.TemporaryDirectory() as folder:
        said = predict(program, record(one, keep or Path(folder)), one.changes)
    return asked(one, said)


def judge_all(program: Path, numbers: Iterable[int], keep: Path | None = None) -> list[Outcome]:
    """Two at once."""
    with ProcessPoolExecutor(2) as pool:
        return [one.result() for one in [pool.submit(judge, program, number, keep) for number in numbers]]


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def form_of(what: str) -> str:
    """The kind of a change: its items without their figures."""
    return ",".join("kernels:…" if item.startswith("kernels:") else item.split("=")[0] for item in what.split(","))


def line(name: str, errors: Sequence[float]) -> str:
    if not errors:
        return f"  {name:24} none"
    middle, most = 100 * statistics.median(errors), 100 * quantile(errors, 0.9)
    return f"  {name:24} {len(errors):5}  median {middle:6.2f} %  90th percentile {most:6.2f} %  worst {100 * max(errors):6.1f} %"


def reasons(outcomes: Iterable[Outcome]) -> Counter[str]:
    """Without their figures."""
    return Counter(re.sub(r"[0-9.]+", "…", one.refused) for one in outcomes if one.refused)


@dataclass(frozen=True)
class Summary:
    outcomes: tuple[Outcome, ...]

    @property
    def accepted(self) -> list[Outcome]:
        return [one for one in self.outcomes if not one.refused]

    @property
    def refused_share(self) -> float:
        return 1 - len(self.accepted) / len(self.outcomes)

    @property
    def best_share(self) -> float:
        asked = [best for best in (one.best() for one in self.accepted) if best is not None]
        return sum(asked) / max(len(asked), 1)

    @property
    def errors(self) -> list[tuple[float, Outcome, Answer]]:
        pairs = [(answer.error, one, answer) for one in self.accepted for answer in one.answers]
        return [(error, one, answer) for error, one, answer in pairs if error is not None]

    @property
    def telling(self) -> list[float]:
        """Errors of the predictions of changes that matter: a recording says of most changes that they bring nothing."""
        return [error for error, _, answer in self.errors if abs(answer.true - 1) > MATTERS]

    def text(self) -> str:
        lines = [f"{len(self.outcomes)} recordings, {100 * self.refused_share:.1f} % refused"]
        lines += [f"  {count} × {reason}" for reason, count in reasons(self.outcomes).most_common()]
        lines.append(line("all", [error for error, _, _ in self.errors]))
        lines.append(line(f"more than {100 * MATTERS:.0f} % of a step", self.telling))
        for kind in dict.fromkeys(one.kind for one in self.outcomes):
            lines.append(line(kind, [error for error, one, _ in self.errors if one.kind == kind]))
        for form in sorted({form_of(answer.what) for _, _, answer in self.errors}):
            lines.append(line(form, [error for error, _, answer in self.errors if form_of(answer.what) == form]))
        lines.append(line("step as recorded", [abs(one.step_share - 1) for one in self.accepted]))
        unsaid = [answer.true for one in self.accepted for answer in one.answers if answer.predicted is None]
        more = sum(true < 1 - TIE for true in unsaid)
        lines.append(f"  without a prediction: {len(unsaid)}, of which {more} are worth more than {100 * TIE:.0f} %")
        lines.append(f"  ranked first and truly best: {100 * self.best_share:.1f} %")
        worst = heapq.nlargest(WORST, self.errors, key=lambda found: found[0])
        lines += [f"  worst: schedule {one.number}, {one.kind}, {answer}" for _, one, answer in worst]
        return "\n".join(lines)
