# SPDX-License-Identifier: Apache-2.0
"""Device work as arrays: what the analyses of whole ranks take, which need no frame of every row."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .reading import Events


@dataclass
class Work:
    """Operations of one rank by the time of their start; times in microseconds."""

    start: Any
    lasting: Any
    stream: Any
    name: Any  # numbers of the symbol table
    kind: Any  # numbers of symbols.KINDS
    correlation: Any
    called: Any  # when the call that launched it began; NaN: not known
    calling: Any  # how long the call took
    call_name: Any  # the number of its name; -1: not known
    category: Any  # numbers of the symbol table; None where all rows are device work

    def __len__(self) -> int:
        return len(self.start)

    def where(self, chosen: Any) -> Work:
        """The operations that a mask or places choose."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return Work(**{name: None if column is None else column[chosen] for name, column in columns.items()})

    @property
    def end(self) -> Any:
        return self.start + self.lasting


def work_of_tables(events: Events, zero_ns: int) -> Work:
    start, lasting = events.times(zero_ns)
    at, launch = events.operations, events.launches
    kept = None if events.kept is None else events.kept[at]
    known = launch >= 0 if events.kept is None else (launch >= 0) & events.kept[launch]
    found = Work(
        start=start[at], lasting=lasting[at], stream=events.work["stream"], name=events.name[at], kind=events.kinds,
        correlation=events.work["correlation"], called=np.where(known, start[launch], np.nan),
        calling=np.where(known, lasting[launch], np.nan), call_name=np.where(known, events.name[launch], -1), category=None,
    )  # fmt: skip
    on_stream = found.stream != -1
    return found.where(on_stream if kept is None else on_stream & kept)


def work_of_frame(rows: Any, starts: Any) -> Work:
    """`starts` are those of all rows by their index: HTA takes the first event of the file for the launch of what has none."""
    columns = {name: rows[name].to_numpy() for name in ("ts", "dur", "stream", "name", "kind", "correlation", "cat")}
    called = starts[~starts.index.duplicated()].reindex(rows["index_correlation"]).to_numpy(dtype=float)
    unknown = np.full(len(rows), np.nan)
    return Work(
        columns["ts"], columns["dur"], columns["stream"], columns["name"], columns["kind"], columns["correlation"],
        called, unknown, np.full(len(rows), -1, np.int64), columns["cat"],
    )  # fmt: skip
