# SPDX-License-Identifier: Apache-2.0
"""Writes the table of layouts and ranks in bench/README.md, and checks it."""

from __future__ import annotations

import datetime
import pathlib
import re
from typing import NamedTuple

README = pathlib.Path(__file__).resolve().parent / "README.md"
MAX_AGE_DAYS = 30
MIN_SIZE_MB = 1000  # the aims are about files of this size
HEADER = re.compile(r"Commit `(\w+)`, (\d{4}-\d\d-\d\d), layouts of (\d+) MB, ten times the size: (yes|no)\.")
LINE = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([\d.]+) \| ≤ ([\d.]+) \|", re.MULTILINE)


class Row(NamedTuple):
    layout: str
    measured: str
    value: float
    limit: float

    @property
    def is_missed(self) -> bool:
        return self.value > self.limit


def table_of(rows: list[Row], commit: str, day: datetime.date, size_mb: int, tenfold: bool) -> str:
    lines = ["<!-- layouts -->"]
    lines.append(
        f"Commit `{commit}`, {day}, layouts of {size_mb} MB, ten times the size: {'yes' if tenfold else 'no'}.\n\n"
        "| layout | measured | value | aim | |\n|---|---|---|---|---|"
    )
    for row in rows:
        lines.append(
            f"| {row.layout} | {row.measured} | {row.value:.2f} | ≤ {row.limit:g} | {'missed' if row.is_missed else ''} |"
        )
    return "\n".join([*lines, "<!-- /layouts -->"])


def check(text: str, today: datetime.date) -> list[str]:
    """Returns each reason why the table in `text` does not hold on that day; empty if it holds."""
    block = re.search(r"<!-- layouts -->(.*?)<!-- /layouts -->", text, re.DOTALL)
    header = HEADER.search(block[1]) if block else None
    if not block or not header:
        return ["bench/README.md has no table of layouts: run bench/layouts.py BUILD_DIR --tenfold --write"]
    problems = []
    age = (today - datetime.date.fromisoformat(header[2])).days
    if age > MAX_AGE_DAYS:
        problems.append(f"the table is {age} days old, at most {MAX_AGE_DAYS} are allowed")
    if int(header[3]) < MIN_SIZE_MB:
        problems.append(f"the table was measured at {header[3]} MB, the aims are about {MIN_SIZE_MB} MB")
    if header[4] == "no":
        problems.append("ten times the size was not measured")
    rows = [Row(m[1], m[2], float(m[3]), float(m[4])) for m in LINE.finditer(block[1])]
    if not rows:
        problems.append("the table has no rows")
    return problems + [
        f"{row.layout}: {row.measured} is {row.value:g}, aim {row.limit:g}" for row in rows if row.is_missed
    ]
