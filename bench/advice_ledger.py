# SPDX-License-Identifier: Apache-2.0
"""The ledger of advice, bench/results/advice.csv: what fixes were predicted to bring, and what they brought.

A row is one fix of one program on one machine. All figures are ratios: the time of a step with the fix over the time without.
`measured_low` and `measured_high` are the 95 % interval of the measurement; `predicted_low` and `predicted_high` what the
program says of the recording from before the fix, before anything is calibrated by this ledger. Empty is unknown: the program
does not know the fix yet, or refuses the recording.

Rows of one repository are no independent trials: calibration is tested by leaving out whole repositories. `repository` is
owner/name@commit, or "gapless" for the scripts of examples/pairs. Recordings of other repositories are never kept here: of such a
row `recording` is owner__name/path, and bench/gpu_pairs.py predicts it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEDGER = ROOT / "bench/results/advice.csv"
PICTURE = ROOT / "docs/pictures/reliability.svg"
IN_REPOSITORY = "samples/"  # other recordings lie in the corpus
DIGITS = 4
OWN = "gapless"  # the repository of our own scripts
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
    repository: str = OWN  # owner/name@commit
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
            [round(one, DIGITS) for one in (found.low, found.expected, found.high)] if found else [None] * 3
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
    if row.repository != OWN and not IS_PINNED.fullmatch(row.repository):
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


# ---- how good the predictions were


@dataclass(frozen=True)
class Reliability:
    rows: int  # with a prediction
    median_error: float  # of |ln(measured / predicted)|
    within: float  # share of the measured ratios that lie within the predicted interval


# As in src/predict/calibration.h, which says why.
COVERAGE = 0.8
PRIOR_PAIRS = 2
LEAST_WIDTH = 0.03
LEAST_PAIRS = 4
LEAST_FACTOR, MOST_FACTOR = 0.5, 4.0


def _error(row: Row) -> float:
    known = row.predicted
    assert known is not None
    return math.log(row.measured_ratio / known.expected)


def _widths(row: Row) -> tuple[float, float]:
    """How far the model's own bounds lie below and above what it expects, in logarithms."""
    known = row.predicted
    assert known is not None
    low, high = min(known.low, known.expected), max(known.high, known.expected)
    return (
        math.hypot(math.log(known.expected / low), LEAST_WIDTH),
        math.hypot(math.log(high / known.expected), LEAST_WIDTH),
    )


def as_predicted(rows: Sequence[Row]) -> Reliability:
    """The predictions as the models make them, with the least width."""
    known = [row for row in rows if row.predicted]
    if not known:
        return Reliability(0, math.nan, math.nan)
    held = [-below <= _error(row) <= above for row, (below, above) in zip(known, map(_widths, known))]
    return Reliability(len(known), statistics.median(abs(_error(row)) for row in known), sum(held) / len(held))


def _shift(kind: str, rows: Sequence[Row]) -> float:
    errors = [_error(row) for row in rows if row.kind == kind]
    return sum(errors) / (len(errors) + PRIOR_PAIRS)


def _factor(rows: Sequence[Row], coverage: float) -> float:
    """Of the widths: intervals of so many of them hold that share of these rows."""
    if len(rows) < LEAST_PAIRS:
        return 1.0
    strain = []
    for row in rows:
        off = _error(row) - _shift(row.kind, rows)
        below, above = _widths(row)
        strain.append(abs(off) / (above if off > 0 else below))
    rank = min(len(strain), math.ceil(coverage * (len(strain) + 1)))
    return sorted(strain)[rank - 1]


def leave_one_out(rows: Sequence[Row], coverage: float = COVERAGE) -> Reliability:
    """Each prediction calibrated by all the others for intervals that hold `coverage`, and held against what was measured."""
    known = [row for row in rows if row.predicted]
    if len(known) < 2:
        return Reliability(len(known), math.nan, math.nan)
    errors, held = [], []
    for row in known:
        others = [other for other in known if other is not row]
        factor, (below, above) = _factor(others, coverage), _widths(row)
        if coverage == COVERAGE:  # the program says no others, and bounds them
            factor = min(MOST_FACTOR, max(LEAST_FACTOR, factor))
        errors.append(_error(row) - _shift(row.kind, others))
        held.append(-factor * below <= errors[-1] <= factor * above)
    return Reliability(len(known), statistics.median(map(abs, errors)), sum(held) / len(held))


NOMINAL = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def curve(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Of intervals that are meant to hold a share of the truths: the share, and what they hold, leaving one out."""
    return [(share, leave_one_out(rows, share).within) for share in NOMINAL]


def picture(rows: Sequence[Row]) -> str:
    """The reliability curve as SVG: on the diagonal intervals hold what they promise."""
    size, left, top = 240, 46, 14

    def at(meant: float, held: float) -> str:
        return f"{left + size * meant:.1f},{top + size * (1 - held):.1f}"

    known = sum(row.predicted is not None for row in rows)
    points = curve(rows)
    box = f"0 0 {left + size + 14} {top + size + 44}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" font-size="11" fill="#566270">',
        f"<title>Reliability of {known} predictions, each calibrated by the others</title>",
        f'<rect x="{left}" y="{top}" width="{size}" height="{size}" fill="none" stroke="#c5ccd4"/>',
        f'<polyline points="{at(0, 0)} {at(1, 1)}" stroke="#97a1ab" stroke-dasharray="4 4" fill="none"/>',
        f'<polyline points="{" ".join(at(*point) for point in points)}" stroke="#2f6fd0" stroke-width="2" fill="none"/>',
    ]
    for meant, held in points:
        x, y = at(meant, held).split(",")
        out.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="#2f6fd0"><title>{meant:.0%}: {held:.0%}</title></circle>')
    for share in (0, 0.5, 1):
        out.append(f'<text x="{left + size * share:.0f}" y="{top + size + 16}" text-anchor="middle">{share:.0%}</text>')
        out.append(f'<text x="{left - 6}" y="{top + size * (1 - share) + 4:.0f}" text-anchor="end">{share:.0%}</text>')
    out.append(
        f'<text x="{left + size / 2:.0f}" y="{top + size + 34}" text-anchor="middle">intervals are meant to hold</text>'
    )
    middle = top + size / 2
    out.append(
        f'<text x="12" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 12 {middle:.0f})">they hold</text>'
    )
    return "\n".join([*out, "</svg>", ""])
