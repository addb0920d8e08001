# SPDX-License-Identifier: Apache-2.0
"""How well the ledger of advice predicts what it has not seen, kind by kind, as a table: each row calibrated by the rows of all other
repositories. What the user gives (GIVEN: how much shorter a kernel or the host gets) is only replayed, and stands apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from advice_calibration import GIVEN, leave_one_out, reliability, trial
from advice_ledger import Range, Row

Answer = tuple[Row, Range]


def _line(name: str, machine: str, rows: Sequence[Row], answers: Sequence[Answer]) -> str:
    start = f"| {name} | {machine} | {len(set(map(trial, rows)))} | {len(rows)} | {len(answers)} |"
    if not answers:
        return f"{start} | | | | |"
    found = reliability(answers)
    held = sum(said.low <= row.measured_ratio <= said.high for row, said in answers)
    width = statistics.median(said.high / said.low for _, said in answers)
    silent = sum(said.low <= 1 <= said.high for _, said in answers)
    return (
        f"{start} {held} of {len(answers)} | {found.within:.0%} | {found.median_error:.3f} | {width:.2f} | {silent} |"
    )


def table(rows: Sequence[Row]) -> str:
    """Markdown; the last lines sum up each kind of machine. Widths are the upper bound of a step over the lower one."""
    answers = leave_one_out(rows)
    lines = [
        (
            "| kind | machine | repositories | pairs | predicted | interval held | by repository | median \\|ln error\\| "
            "| median width | hold 1.00 |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups = sorted({(row.kind, row.machine) for row in rows}) + [
        (name, place) for place in ("cpu", "gpu") for name in ("all modelled", "all given")
    ]
    for kind, machine in groups:

        def belongs(row: Row, kind: str = kind, machine: str = machine) -> bool:
            return row.machine == machine and kind in (row.kind, "all given" if row.kind in GIVEN else "all modelled")

        told = [answer for answer in answers if belongs(answer[0])]
        mine = list(filter(belongs, rows))
        lines += [_line(kind, machine, mine, told)] if mine else []
    if answers:
        row, said = max(answers, key=lambda answer: abs(math.log(answer[0].measured_ratio / answer[1].expected)))
        off = abs(math.log(row.measured_ratio / said.expected))
        lines.append(f"\nfarthest off: `{row.id}`, by a factor of {math.exp(off):.2f}")
    return "\n".join(lines)
