# SPDX-License-Identifier: Apache-2.0
"""How well the ledger of advice predicts what it has not seen, kind by kind, leaving out whole repositories.

Rows of one repository share a script, a machine and a recorder, so that they are one trial: a row is calibrated by the rows of all
other repositories. The scripts of examples/pairs count as one repository, too.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from advice_ledger import COVERAGE, LEAST_FACTOR, MOST_FACTOR, Row, _error, _factor, _shift, _widths


@dataclass(frozen=True)
class Trial:
    row: Row
    error: float  # ln(measured / calibrated expectation)
    held: bool  # the calibrated 80 % interval holds the measured ratio


def repository_of(row: Row) -> str:
    """Without the commit: two commits of one repository are one trial."""
    return row.repository.partition("@")[0]


def trials(rows: Sequence[Row]) -> list[Trial]:
    """Each predicted row, calibrated by the predicted rows of other repositories."""
    known = [row for row in rows if row.predicted]
    found = []
    for row in known:
        others = [other for other in known if repository_of(other) != repository_of(row)]
        factor = min(MOST_FACTOR, max(LEAST_FACTOR, _factor(others, COVERAGE)))
        below, above = _widths(row)
        error = _error(row) - _shift(row.kind, others)
        found.append(Trial(row, error, -factor * below <= error <= factor * above))
    return found


def _line(name: str, machine: str, rows: Sequence[Row], tried: Sequence[Trial]) -> str:
    repositories = len({repository_of(row) for row in rows})
    start = f"| {name} | {machine} | {repositories} | {len(rows)} | {len(tried)} |"
    if not tried:
        return f"{start} | |"
    error = statistics.median(abs(one.error) for one in tried)
    return f"{start} {sum(one.held for one in tried)} of {len(tried)} | {error:.3f} |"


def table(rows: Sequence[Row]) -> str:
    """A Markdown table; the last lines sum up each kind of machine."""
    tried = trials(rows)
    lines = [
        "| kind | machine | repositories | pairs | predicted | interval held | median \\|ln error\\| |",
        "|---|---|---|---|---|---|---|",
    ]
    groups = sorted({(row.kind, row.machine) for row in rows}) + [("all", one) for one in ("cpu", "gpu")]
    for kind, machine in groups:

        def belongs(row: Row, kind: str = kind, machine: str = machine) -> bool:
            return row.machine == machine and kind in (row.kind, "all")

        lines.append(
            _line(kind, machine, [row for row in rows if belongs(row)], [one for one in tried if belongs(one.row)])
        )
    worst = max(tried, key=lambda one: abs(one.error), default=None)
    if worst:
        lines.append(f"\nfarthest off: `{worst.row.id}`, by a factor of {math.exp(abs(worst.error)):.2f}")
    return "\n".join(lines)
