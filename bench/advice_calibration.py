# SPDX-License-Identifier: Apache-2.0
"""How good predictions of the ledger are, by a calibration that has not seen the repository they are of.

The calibration is that of src/predict/calibration.h, written a second time from its definition: tests/advice_test.py holds the two against
each other.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from advice_ledger import ROOT, Range, Row

PICTURE = ROOT / "docs/pictures/reliability.svg"

COVERAGE = 0.8
GIVEN = ("host", "kernels")  # the change is given, and only replayed
PRIOR = 2 * 0.3**2  # so many programs with such an effect, as predicted
LEAST_WIDTH = 0.03
UNTESTED_WIDTH = 0.2
UNTESTED_SHARE = 0.35
LEAST_PROGRAMS = 5
LEAST_SLOPE_PROGRAMS = 3
GROWTH = 0.1  # of errors, with what is predicted


def trial(row: Row) -> str:
    """The repository without its commit: rows of one share a script, a machine and an author."""
    return row.repository.partition("@")[0] or row.recording or row.id


def known(row: Row) -> Range:
    assert row.predicted is not None
    return row.predicted


def bounds(row: Row) -> tuple[float, float]:
    """How far the model's own bounds lie below and above what it expects, in logarithms."""
    model = known(row)
    low, high = min(model.low, model.expected), max(model.high, model.expected)
    return math.log(model.expected / low), math.log(high / model.expected)


def scale(kind: str, expected: float) -> float:
    """What errors are measured in: they grow with what is predicted."""
    return LEAST_WIDTH if kind in GIVEN else math.hypot(LEAST_WIDTH, GROWTH * expected)


class Calibration:
    """Of the rows of one machine ("gpu" or "cpu"); what does not tell counts for both."""

    def __init__(self, rows: Sequence[Row], machine: str, coverage: float = COVERAGE) -> None:
        self.rows = [row for row in rows if row.predicted and row.machine in ("", machine)]
        self.of_trial = Counter(map(trial, self.rows))
        self.coverage = coverage
        self.times = {given: self._times(given) for given in (False, True)}

    def slope(self, kind: str, without: str | None = None) -> float:
        if kind in GIVEN:
            return 1.0
        xy = xx = 0.0
        tests = {trial(row) for row in self.rows if row.kind == kind} - {without}
        if len(tests) < LEAST_SLOPE_PROGRAMS:
            return 1.0
        for row in self.rows:
            if row.kind == kind and trial(row) != without:
                x, y = math.log(known(row).expected), math.log(row.measured_ratio)
                xy += x * y / self.of_trial[trial(row)]
                xx += x * x / self.of_trial[trial(row)]
        return (xy + PRIOR) / (xx + PRIOR)

    def _times(self, given: bool) -> float | None:
        """What intervals need beside the models' own bounds, in scales; None: too few repositories."""
        rows = [row for row in self.rows if (row.kind in GIVEN) == given]
        of_trial = Counter(map(trial, rows))
        if len(of_trial) < LEAST_PROGRAMS:
            return None
        wanted = []
        for row in rows:
            middle = self.slope(row.kind, without=trial(row)) * math.log(known(row).expected)
            off = math.log(row.measured_ratio) - middle
            below, above = bounds(row)
            excess = math.sqrt(max(0, off**2 - (above if off > 0 else below) ** 2))
            wanted.append((excess / scale(row.kind, middle), 1 / of_trial[trial(row)]))
        rank = self.coverage * (len(of_trial) + 1) - 1e-9
        for value, weight in sorted(wanted):
            rank -= weight
            if rank <= 0:
                break
        return value

    def width(self, kind: str, expected: float) -> float:
        times = self.times[kind in GIVEN]
        return UNTESTED_WIDTH if times is None else max(LEAST_WIDTH, times * scale(kind, expected))

    def interval(self, row: Row) -> Range:
        middle = self.slope(row.kind) * math.log(known(row).expected)
        tested = any(other.kind == row.kind for other in self.rows)
        doubt = 0.0 if tested else UNTESTED_SHARE * math.log(known(row).expected)
        width = self.width(row.kind, middle)
        below, above = (math.hypot(bound, width, doubt) for bound in bounds(row))
        return Range(math.exp(middle - below), math.exp(middle), math.exp(middle + above))


def leave_one_out(rows: Sequence[Row], coverage: float = COVERAGE) -> list[tuple[Row, Range]]:
    """Each row with a prediction, and what is said of it by those of the other repositories."""
    answers = []
    for row in rows:
        if row.predicted:
            others = [other for other in rows if trial(other) != trial(row)]
            answers.append((row, Calibration(others, row.machine or "gpu", coverage).interval(row)))
    return answers


@dataclass(frozen=True)
class Reliability:
    rows: int
    programs: int  # repositories
    median_error: float  # of |ln(measured / expected)|
    within: float  # share of the truths that their interval holds, each repository weighing the same


def reliability(answers: Sequence[tuple[Row, Range]]) -> Reliability:
    if not answers:
        return Reliability(0, 0, math.nan, math.nan)
    of_trial = Counter(trial(row) for row, _ in answers)
    errors = [abs(math.log(row.measured_ratio / said.expected)) for row, said in answers]
    held = [(said.low <= row.measured_ratio <= said.high, 1 / of_trial[trial(row)]) for row, said in answers]
    within = sum(weight for holds, weight in held if holds) / len(of_trial)
    return Reliability(len(answers), len(of_trial), statistics.median(errors), within)


def as_predicted(rows: Sequence[Row]) -> list[tuple[Row, Range]]:
    """Each row with a prediction, as the models make it, with the least width."""
    answers = []
    for row in rows:
        if row.predicted:
            below, above = (math.hypot(bound, LEAST_WIDTH) for bound in bounds(row))
            middle = known(row).expected
            answers.append((row, Range(middle * math.exp(-below), middle, middle * math.exp(above))))
    return answers


NOMINAL = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def curve(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Of intervals that are meant to hold a share of the truths: the share, and what they hold, leaving one out."""
    return [(share, reliability(leave_one_out(rows, share)).within) for share in NOMINAL]


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
