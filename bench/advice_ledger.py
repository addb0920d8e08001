# SPDX-License-Identifier: Apache-2.0
"""The ledger of advice, bench/results/advice.csv: what fixes were predicted to bring, and what they brought.

A row is one fix of one program on one machine. All figures are ratios: the time of a step with the fix over the time without.
`measured_low` and `measured_high` are the 95 % interval of the measurement; `predicted_low` and `predicted_high` what the
program says of the recording from before the fix, before anything is calibrated by this ledger. Empty is unknown: the program
does not know the fix yet, or refuses the recording.

Rows of one repository are no independent trials: calibration is tested by leaving out whole repositories. `repository` is
owner/name@commit, or "gapless:SCRIPT" for those of examples/pairs. Recordings of other repositories are never kept here: of such a
row `recording` is owner__name/path, and bench/gpu_pairs.py predicts it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEDGER = ROOT / "bench/results/advice.csv"
IN_REPOSITORY = "samples/"  # other recordings lie in the corpus
DIGITS = 4
OWN = "gapless:"  # begins the repository of our own scripts
MACHINES, CONFIDENCES = ("cpu", "gpu"), ("solid", "fair")
IS_PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}")
LEAST_RATIO = 10.0**-DIGITS  # no step takes no time at all


@dataclass(frozen=True)
class Range:
    low: float
    expected: float
    high: float


@dataclass(frozen=True)
class Row:
    id: str
    what: str  # as `gapless predict --what` takes it
    kind: str  # the name in it
    recording: str  # from before the fix: below the repository ("samples/…"), or below the corpus
    device: str
    measured_ratio: float
    measured_low: float | None
    measured_high: float | None
    predicted_low: float | None
    predicted_expected: float | None
    predicted_high: float | None
    source: str  # "pair": both sides recorded or timed here; "table": a published time of the side with the fix
    date: str
    repository: str = OWN  # owner/name@commit, or a script of ours
    machine: str = "cpu"  # where the step ran: "cpu" or "gpu"
    confidence: str = "solid"  # "solid": steady steps of both sides; "fair": few steps, or a published table
    note: str = ""  # how the times were read

    @property
    def predicted(self) -> Range | None:
        if self.predicted_low is None or self.predicted_expected is None or self.predicted_high is None:
            return None
        return Range(self.predicted_low, self.predicted_expected, self.predicted_high)

    def with_prediction(self, found: Range | None) -> Row:
        low, expected, high = (
            [round(factor, DIGITS) for factor in (found.low, found.expected, found.high)] if found else [None] * 3
        )
        return replace(self, predicted_low=low, predicted_expected=expected, predicted_high=high)

    def path(self, corpus: Path) -> Path:
        return (ROOT if self.recording.startswith(IN_REPOSITORY) else corpus) / self.recording


def kind_of(what: str) -> str:
    """The name of the fix without its value: "kernels" of "kernels:flash=0.5"."""
    return what.partition("=")[0].partition(":")[0]


COLUMNS = [field.name for field in fields(Row)]
_FIGURES = {name for name in COLUMNS if name.startswith(("measured_", "predicted_"))}


def parse(text: str) -> list[Row]:
    reader = csv.DictReader(io.StringIO(text))
    if reader.fieldnames != COLUMNS:
        raise ValueError(f"the columns are {reader.fieldnames}, not {COLUMNS}")
    rows = []
    for record in reader:
        cells: dict[str, Any] = {
            name: (float(cell) if cell else None) if name in _FIGURES else cell for name, cell in record.items()
        }
        rows.append(Row(**cells))
        check(rows[-1])
    return rows


def check(row: Row) -> None:
    """Raises where a row contradicts itself."""
    for name in ("id", "what", "kind", "recording", "device", "source", "date", "repository"):
        if not getattr(row, name):
            raise ValueError(f"{row.id}: no {name}")
    if row.measured_ratio is None or not row.measured_ratio > 0:
        raise ValueError(f"{row.id}: no measured ratio")
    if row.machine not in MACHINES or row.confidence not in CONFIDENCES:
        raise ValueError(f"{row.id}: {row.machine} is none of {MACHINES}, or {row.confidence} none of {CONFIDENCES}")
    if not row.repository.startswith(OWN) and not IS_PINNED.fullmatch(row.repository):
        raise ValueError(f"{row.id}: {row.repository} is not owner/name@commit")
    if row.kind != kind_of(row.what):
        raise ValueError(f"{row.id}: {row.what} is not of the kind {row.kind}")
    measured = (row.measured_low, row.measured_ratio, row.measured_high)
    predicted = (row.predicted_low, row.predicted_expected, row.predicted_high)
    for three in (measured, predicted):
        known = [figure for figure in three if figure is not None]
        if known != sorted(known):
            raise ValueError(f"{row.id}: {three} is no interval around its middle")


def text_of(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: "" if cell is None else cell for name, cell in asdict(row).items()})
    return out.getvalue()


def ask(program: Path, recording: Path, what: str) -> Range | None:
    """What the program predicts of a fix, uncalibrated, as ratios of the recorded step; None: nothing."""
    command = [str(program), "predict", str(recording), "--what", what, "--json", "--no-cache"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return None
    answer = json.loads(done.stdout)
    (prediction,) = answer["predictions"]
    model = prediction.get("model")  # shares of the step
    if model is None:
        step_ns = prediction.get("step_ns")
        if step_ns is None or not answer["step_ns"]:
            return None
        model = {name: value / answer["step_ns"] for name, value in step_ns.items()}
    return Range(*(max(LEAST_RATIO, model[name]) for name in ("low", "expected", "high")))
