# SPDX-License-Identifier: Apache-2.0
"""Two runs held against each other: why a step of the second takes longer or shorter, and what differs in them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Union

from .program import ask

RunName = Union[str, "os.PathLike[str]", int]


@dataclass(frozen=True)
class CauseRow:
    """A kernel, an operator, a call or a frame with what it adds to a cause, in ns of a step. `presence` is "both", "only_a" or "only_b"."""

    name: str
    operator: str
    presence: str
    ns: int
    a_ns: int
    b_ns: int
    a_calls: float
    b_calls: float
    source_line: str


@dataclass(frozen=True)
class Cause:
    """A part of the difference: `ns` of a step of B minus those of A. Its rows add up to it."""

    id: str
    title: str
    ns: int
    rows: tuple[CauseRow, ...] = field(repr=False)


@dataclass(frozen=True)
class StepDifference:
    """Why a step of B takes `difference_ns` more than one of A. The causes add up to it, the largest first.

    `sentence` says it in words, `notes` what makes it doubtful; `document` is the whole of `gapless why --json`.
    """

    a_step_ns: int
    b_step_ns: int
    difference_ns: int
    sentence: str
    causes: tuple[Cause, ...]
    notes: tuple[str, ...] = ()
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        return self.sentence


def why(a: RunName, b: RunName, *, db: str | None = None) -> StepDifference:
    """Splits the difference of the mean steps of two runs into causes that add up to the nanosecond.

    A run is a recording (a file or folder of any format that `gapless formats` lists), or the number of a record of the history; `db`
    is its URL, without it the user's own. Raises ProgramError where they cannot be compared.

    >>> why("before.json", "after.json").causes[0].id  # doctest: +SKIP
    'kernel_time'
    """
    options = [] if db is None else ["--db", db]
    answer: dict[str, Any] = ask("why", *options, *_words(a, b))
    return StepDifference(
        a_step_ns=answer["a"]["step_ns"], b_step_ns=answer["b"]["step_ns"], difference_ns=answer["difference_ns"],
        sentence=answer["sentence"], causes=tuple(_cause(cause) for cause in answer["causes"]),
        notes=tuple(answer.get("notes", ())), document=answer,
    )  # fmt: skip


def diff(a: RunName, b: RunName) -> dict[str, Any]:
    """Two recordings side by side: the document of `gapless diff --json`, whose rows `pandas.DataFrame(diff(a, b)["kernels"])` takes.

    Times are ns of a step; the largest difference is first.
    """
    document: dict[str, Any] = ask("diff", *_words(a, b))
    return document


def _words(a: RunName, b: RunName) -> list[str]:
    return [str(run) if isinstance(run, int) else os.fspath(run) for run in (a, b)]


def _cause(cause: dict[str, Any]) -> Cause:
    rows = (
        CauseRow(
            name=row.get("name", ""), operator=row.get("operator", ""), presence=row["presence"], ns=row["ns"], a_ns=row["a_ns"],
            b_ns=row["b_ns"], a_calls=row["a_calls"], b_calls=row["b_calls"], source_line=row.get("source_line", ""),
        )
        for row in cause["rows"]
    )  # fmt: skip
    return Cause(id=cause["id"], title=cause["title"], ns=cause["ns"], rows=tuple(rows))
