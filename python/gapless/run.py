# SPDX-License-Identifier: Apache-2.0
"""Recordings in Python: `gapless.open(path)` reads them, and the run has their tables, analyses, findings and predictions.

The library works in this process; numbers go to NumPy, pandas and Polars without copies. Times are nanoseconds, shares are 0 to 1,
what was not recorded is null.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

from . import native
from .bottlenecks import Bottleneck
from .integrations.extras import need
from .program import ProgramError
from .report_view import Report

Path = Union[str, "os.PathLike[str]"]
HEAD = 8  # rows that a table shows of itself
CHUNK = 4096  # rows that are turned into Python's objects at once
WIDEST = 28  # characters of a cell there


@dataclass(frozen=True)
class Column:
    """A column of a table. `type` is "integer" (int64), "real" (float64) or "text"; `unit` is "ns", "bytes", "share", …, or ""."""

    name: str
    type: str
    unit: str = ""
    help: str = ""


@dataclass(frozen=True)
class TableInfo:
    """A table that every run has, though it may be empty; an analysis is computed when it is asked for."""

    name: str
    help: str
    analysis: bool
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Prediction:
    """The effect of `what`: the speedup of a step, and the interval it lies in 8 times of 10. `refusal` says why there is none.

    `document` is the whole entry of `gapless predict --json`: what was assumed, what it is calibrated with.
    """

    what: str
    speedup: float | None
    low: float | None
    high: float | None
    refusal: str = ""
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def open(
    paths: Path | Iterable[Path],
    *,
    ranks: Sequence[int] = (),
    cache: bool = True,
    threads: int = 0,
    all_steps: bool = False,
    redact: bool = False,
    source_root: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Reads recordings: files, folders of them (the ranks of one job) or tar archives, of any profiler that `gapless formats` lists.

    "3=path" assigns the path to rank 3. `ranks` reads only these. `cache` keeps what was read in the user's cache folder, and takes
    it from there. `threads` 0 takes as many as the machine allows. `all_steps` makes predictions replay every step. `redact`
    replaces paths, source files, hosts and users by names, before anything is computed; `source_root` is the folder in which the
    recorded sources are on this machine. `progress` is called now and then with the share of bytes that were read, from another
    thread. Ctrl-C ends the reading.

    Raises ProgramError if nothing could be read, or if the library is not there; `Run.failures` lists paths that could not be read.
    """
    run = Run()
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    options = native.OpenOptions(threads=threads, no_cache=not cache, all_steps=all_steps, redact=redact)
    if source_root is not None:
        options.source_root = os.fsencode(source_root)
    if ranks:
        options.ranks, options.rank_count = (ctypes.c_int64 * len(ranks))(*ranks), len(ranks)
    if progress is not None:
        options.progress = native.Progress(lambda _, __, done, total: progress(done / total) if total else None)
    words = [os.fspath(path) for path in given]
    run._work("gapless_open", native.texts(words), len(words), ctypes.byref(options))
    run.paths = tuple(words)
    run._shown = "redacted recordings" if redact else ", ".join(words)
    return run


class Table:
    """Rows of typed columns: a recorded table, an analysis, or the result of a query. It stays good without its run.

    It goes to other libraries by the Arrow stream interface: `polars.DataFrame(table)`, `pyarrow.table(table)`,
    `duckdb.sql("SELECT … FROM kernels")`. Texts are dictionary-encoded, a column's unit and help stand in the metadata of its field.
    """

    def __init__(self, handle: native.Handle, name: str = "", chosen: Sequence[str] = ()) -> None:
        self.name = name
        self._handle = handle
        described = ctypes.c_void_p()
        native.ask("gapless_table_columns", handle, ctypes.byref(described))
        found = [Column(**column) for column in json.loads(native.text(described))]
        self._chosen = list(chosen)
        by_name = {column.name: column for column in found}
        self.columns: tuple[Column, ...] = (
            tuple(by_name[column] for column in chosen if column in by_name) if chosen else tuple(found)
        )

    def __len__(self) -> int:
        """The number of rows."""
        return int(native.library().gapless_table_rows(self._handle))

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    def __getitem__(self, wanted: str | Sequence[str]) -> Table:
        """The table with only these columns: what is left out is not converted."""
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        missing = [name for name in names if name not in self.column_names]
        if missing:
            raise KeyError(f"there is no column {missing[0]!r}; there are: {', '.join(self.column_names)}")
        return Table(self._handle, self.name, names)

    def head(self, rows: int = HEAD) -> Table:
        """The first rows."""
        return self.slice(0, rows)

    def slice(self, first: int, rows: int) -> Table:
        """At most `rows` rows from `first` on; nothing is copied."""
        return Table(self._slice(max(first, 0), max(rows, 0)), self.name, self._chosen)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with an ArrowArrayStream (the Arrow PyCapsule interface); the table can be taken as often as one likes."""
        return native.capsule_of(self._stream())

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: int64 (Int64 with absent values), float64 (NaN), category. Numbers of one recording are not copied.

        `attrs["units"]` has the unit of each column that has one. Raises ProgramError if pandas is not installed.
        """
        need("pandas", "pandas")
        from .frames import data_frame

        frame = data_frame(self._stream(), [(column.name, column.type) for column in self.columns])
        frame.attrs["units"] = {column.name: column.unit for column in self.columns if column.unit}
        return frame

    def to_polars(self) -> Any:
        """A polars.DataFrame; texts are Categorical. Raises ProgramError if Polars is not installed."""
        need("polars", "polars")
        import polars

        return polars.DataFrame(self)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Its rows as dictionaries, one after the other; what is absent is None. Whole tables are faster as frames."""
        names = self.column_names
        for first in range(0, len(self), CHUNK):
            for values in self._cells(first, CHUNK):
                yield dict(zip(names, values))

    def to_rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """The rows as a list; at most so many of them."""
        return list(itertools.islice(self.rows(), most))

    def __repr__(self) -> str:
        heads = [f"{column.name} [{column.unit}]" if column.unit else column.name for column in self.columns]
        shown = [heads, *([_shown(value) for value in row] for row in self._cells(0, HEAD))]
        widths = [max(map(len, lines)) for lines in zip(*shown)]
        fitting = _fitting(widths, shutil.get_terminal_size().columns)
        lines = ["  ".join(text.ljust(width) for text, width in zip(row[:fitting], widths)).rstrip() for row in shown]
        count, hidden = len(self), [column.name for column in self.columns[fitting:]]
        more = [f"… {count - HEAD:,} more rows"] if count > HEAD else []
        if hidden:
            more += textwrap.wrap(
                f"… {len(hidden)} more columns: {', '.join(hidden)}", sum(widths[:fitting]) + 2 * fitting
            )
        return "\n".join([f"{self.name or 'result'}: {count:,} rows, {len(self.columns)} columns", *lines, *more])

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(
            f'<th title="{escape(column.help)}">{escape(column.name)}<br><small>{escape(column.unit)}</small></th>'
            for column in self.columns
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_shown(value))}</td>" for value in row) + "</tr>"
            for row in self._cells(0, HEAD)
        )
        title = f"{escape(self.name or 'result')}: {len(self):,} rows"
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _slice(self, first: int, rows: int) -> native.Handle:
        made = ctypes.c_void_p()
        native.ask("gapless_table_slice", self._handle, first, rows, ctypes.byref(made))
        return native.Handle(made.value, "gapless_table_free")

    def _stream(self) -> native.ArrowArrayStream:
        stream = native.ArrowArrayStream()
        names = native.texts(self._chosen)
        native.ask("gapless_table_export", self._handle, names, len(self._chosen), ctypes.byref(stream))
        return stream

    def _cells(self, first: int, rows: int) -> list[tuple[Any, ...]]:
        from .cells import cells

        return cells(self.slice(first, rows)._stream())


class Run:
    """Recordings that were read; made by `gapless.open`. May be used from several threads."""

    def __init__(self) -> None:
        loaded = native.library()
        self.paths: tuple[str, ...] = ()
        self._shown = ""
        self._handle = native.Handle(loaded.gapless_run_new(), "gapless_run_free")

    @property
    def tables(self) -> list[TableInfo]:
        """Every table and analysis there is, the same for every run."""
        return tables()

    @property
    def failures(self) -> list[str]:
        """The inputs that could not be read while others could, each with the reason."""
        found = json.loads(self._text("gapless_failures"))
        return [f"{one['place']}: {one['message']}" if one["place"] else str(one["message"]) for one in found]

    def table(self, name: str, columns: Sequence[str] = ()) -> Table:
        """A recorded table ("gpu_op", "slice", "step", …), with only these columns if some are named; "all_" before the name also
        shows rows of other executions. Raises ProgramError for a name that there is not, with the nearest one."""
        found = Table(self._table("gapless_find", name), name)
        return found[columns] if columns else found

    def analysis(self, name: str, columns: Sequence[str] = ()) -> Table:
        """The table of an analysis ("kernels", "operators", "idle", …), computed when it is first asked for."""
        return self.table(name, columns)

    def query(self, sql: str) -> Table:
        """The result of one SQL statement that reads (SQLite's dialect) over all tables and analyses. Ctrl-C ends it."""
        return Table(self._table("gapless_query", sql))

    @property
    def bottlenecks(self) -> list[Bottleneck]:
        """The findings of `gapless analyze`, ranked."""
        return [Bottleneck.of(found) for found in self.document()["bottlenecks"]]

    def predict(self, *what: str) -> list[Prediction]:
        """Predicts the speedup of fixes: each argument is one combination, such as "amp,workers=8"; without any, each fix alone.

        Raises ProgramError for an item that there is not, and for a recording whose replay does not match it, with the reason.
        """
        words = native.texts(what)
        document = json.loads(self._text("gapless_predict", words, len(what)))
        if not document["accepted"]:
            raise ProgramError(
                f"no prediction: {document.get('reason') or 'the replay does not match the recording'}", 1
            )
        return [_prediction(entry) for entry in document["predictions"]]

    def report(self, *, only: Sequence[str] = (), without: Sequence[str] = (), verbose: bool = False) -> Report:
        """The report of `gapless analyze`: printed it is text, in a notebook a page; `save("report.html")` writes a file.

        `only` and `without` are ids of rules.
        """
        return Report(lambda form: self._render(form, only, without, verbose))

    def document(self) -> dict[str, Any]:
        """The document that `gapless analyze --json` prints."""
        found: dict[str, Any] = json.loads(self._render("json", (), (), False))
        return found

    def __repr__(self) -> str:
        return f"<gapless.Run of {self._shown}>"

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def _work(self, name: str, *arguments: Any) -> None:
        native.work(lambda: native.library().gapless_cancel(self._handle), name, self._handle, *arguments)

    def _text(self, name: str, *arguments: Any) -> str:
        made = ctypes.c_void_p()
        self._work(name, *arguments, ctypes.byref(made))
        return native.text(made)

    def _table(self, name: str, argument: str) -> native.Handle:
        made = ctypes.c_void_p()
        self._work(name, argument.encode("utf-8", "surrogateescape"), ctypes.byref(made))
        return native.Handle(made.value, "gapless_table_free")

    def _render(self, form: str, only: Sequence[str], without: Sequence[str], verbose: bool) -> str:
        options = native.ReportOptions(verbose=verbose, only_count=len(only), without_count=len(without))
        options.only, options.without = native.texts(only), native.texts(without)
        return self._text("gapless_render", form.encode(), ctypes.byref(options))


def tables() -> list[TableInfo]:
    """Every table and analysis that a run has."""
    made = ctypes.c_void_p()
    native.ask("gapless_tables", ctypes.byref(made))
    return [
        TableInfo(one["name"], one["help"], one["analysis"], tuple(Column(**column) for column in one["columns"]))
        for one in json.loads(native.text(made))
    ]


def _prediction(entry: dict[str, Any]) -> Prediction:
    speedup = entry.get("speedup") or {}
    return Prediction(
        what=",".join(entry["what"]), speedup=speedup.get("expected"), low=speedup.get("low"), high=speedup.get("high"),
        refusal=entry.get("reason", ""), document=entry,
    )  # fmt: skip


def _shown(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _fitting(widths: list[int], wide: int) -> int:
    """Returns how many of the columns fit side by side, at least one."""
    used = 0
    for at, width in enumerate(widths):
        used += width + 2
        if used > wide + 2:
            return max(at, 1)
    return len(widths)
