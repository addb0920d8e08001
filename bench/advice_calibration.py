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

from advice_ledger import Range, Row

COVERAGE = 0.8
PRIOR = 2 * 0.3**2  # so many programs with such an effect, as predicted
LEAST_WIDTH = 0.03
UNTESTED_FACTOR = 2.0
UNTESTED_SHARE = 0.35
LEAST_PROGRAMS = 5
LEAST_FACTOR, MOST_FACTOR = 0.5, 4.0


def trial(row: Row) -> str:
    return row.repository or row.recording or row.id


def known(row: Row) -> Range:
    assert row.predicted is not None
    return row.predicted


def widths(row: Row) -> tuple[float, float]:
    """How far the model's own bounds lie below and above what it expects, in logarithms, with the least width."""
    model = known(row)
    low, high = min(model.low, model.expected), max(model.high, model.expected)
    return (
        math.hypot(math.log(model.expected / low), LEAST_WIDTH),
        math.hypot(math.log(high / model.expected), LEAST_WIDTH),
    )


class Calibration:
    """Of the rows of one machine ("gpu" or "cpu"); what does not tell counts for both."""

    def __init__(self, rows: Sequence[Row], machine: str, coverage: float = COVERAGE) -> None:
        self.rows = [row for row in rows if row.predicted and row.machine in ("", machine)]
        self.of_trial = Counter(map(trial, self.rows))
        self.coverage = coverage
        self.factor = self._factor()

    def slope(self, kind: str, without: str | None = None) -> float:
        xy = xx = 0.0
        for row in self.rows:
            if row.kind == kind and trial(row) != without:
                x, y = math.log(known(row).expected), math.log(row.measured_ratio)
                xy += x * y / self.of_trial[trial(row)]
                xx += x * x / self.of_trial[trial(row)]
        return (xy + PRIOR) / (xx + PRIOR)

    def _factor(self) -> float:
        if len(self.of_trial) < LEAST_PROGRAMS:
            return UNTESTED_FACTOR
        strain = []
        for row in self.rows:
            slope = self.slope(row.kind, without=trial(row))
            off = math.log(row.measured_ratio) - slope * math.log(known(row).expected)
            below, above = widths(row)
            strain.append((abs(off) / (above if off > 0 else below), 1 / self.of_trial[trial(row)]))
        rank = self.coverage * (len(self.of_trial) + 1) - 1e-9
        for value, weight in sorted(strain):
            rank -= weight
            if rank <= 0:
                break
        return min(MOST_FACTOR, max(LEAST_FACTOR, value))

    def interval(self, row: Row) -> Range:
        middle = self.slope(row.kind) * math.log(known(row).expected)
        tested = any(other.kind == row.kind for other in self.rows)
        factor = self.factor if tested else max(self.factor, UNTESTED_FACTOR)
        doubt = 0.0 if tested else UNTESTED_SHARE * math.log(known(row).expected)
        below, above = (math.hypot(factor * width, doubt) for width in widths(row))
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
    held = [
        (said.low <= row.measured_ratio <= said.high, 1 / of_trial[trial(row)]) for row, said in answers
    ]
    within = sum(weight for holds, weight in held if holds) / len(of_trial)
    return Reliability(len(answers), len(of_trial), statistics.median(errors), within)
