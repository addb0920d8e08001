# SPDX-License-Identifier: Apache-2.0
"""The answers of `gapless.mcp_server` as plain texts: bounded, with a cursor, and with one marker for what cannot be answered."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .program import Command, ProgramError, command_words, finish, say
from .run import Run, Table, open, tables

MAX_CHARACTERS = 12_000  # 4,000 tokens of three characters, which is few for a token
CANNOT = "CANNOT ANSWER: "
VERDICTS = {0: "yes", 1: "no", 5: "cannot tell"}  # by the exit status of the program

_Answer = TypeVar("_Answer", bound=Callable[..., str])


def bounded(text: str, cursor: int = 0) -> str:
    """The lines of a text from `cursor` on, as many as fit; the last line then says with which cursor it goes on.

    >>> bounded("a\\nb", 1)
    'b'
    """
    lines = text.splitlines()
    shown: list[str] = []
    used = 0
    for at, line in enumerate(lines[cursor:], cursor):
        line = line if len(line) < MAX_CHARACTERS // 4 else line[: MAX_CHARACTERS // 4] + "…"
        used += len(line) + 1
        if used > MAX_CHARACTERS - 80 and shown:
            return "\n".join([*shown, f"… {len(lines) - at:,} more lines: ask again with cursor={at}"])
        shown.append(line)
    return "\n".join(shown)


def answered(act: _Answer) -> _Answer:
    """An error becomes an answer that says so, never an exception and never an empty text."""

    @functools.wraps(act)  # the signature and the description, too
    def answer(*arguments: Any, **named: Any) -> str:
        try:
            return act(*arguments, **named)
        except (ProgramError, ValueError, KeyError) as error:
            return bounded(f"{CANNOT}{error.args[0] if error.args else error}")

    return answer  # type: ignore[return-value]


class Referee:
    """Recordings that were opened, by a name each. May be used from several threads.

    READS are the methods that start no program but gapless itself; RUNS start commands. Their docstrings are what assistants read.
    """

    READS = ("open_recording", "findings", "explain", "list_tables", "query", "predict", "compare_results")
    RUNS = ("judge", "compare_commands", "same_training", "optimize_command")

    def __init__(self, most_open: int = 8) -> None:
        self.most_open = most_open
        self._runs: dict[str, Run] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    @answered
    def open_recording(self, paths: Sequence[str]) -> str:
        """Opens recordings of one job (files, a folder of ranks, an archive). Returns the name of the run and its findings."""
        run = open([paths] if isinstance(paths, str) else list(paths))
        with self._lock:
            name = f"run{next(self._numbers)}"
            self._runs[name] = run
            while len(self._runs) > self.most_open:
                del self._runs[next(iter(self._runs))]  # the one that was opened first
        failures = "".join(f"\nnot read: {one}" for one in run.failures)
        return bounded(f"opened as {name}{failures}\n\n{run.report().form('brief')}")

    @answered
    def findings(self, run: str, cursor: int = 0) -> str:
        """The findings of a run, ranked by what they cost: where in the code, what to try, what that brings, how to prove it."""
        return bounded(self._run(run).report().form("brief"), cursor)

    @answered
    def explain(self, run: str, rule: str, cursor: int = 0) -> str:
        """All evidence of one finding, by the id of its rule (in brackets behind its title), and how its numbers are computed."""
        return bounded(say("analyze", *self._run(run).paths, "--explain", rule), cursor)

    @answered
    def list_tables(self, name: str = "", cursor: int = 0) -> str:
        """The tables and analyses that `query` can ask; with a name, its columns with type, unit and meaning."""
        known = {table.name: table for table in tables()}
        if not name:
            return bounded("\n".join(f"{table.name}: {table.help}" for table in known.values()), cursor)
        if name not in known:
            raise ValueError(f"there is no table {name!r}; tables() lists them")
        columns = [f"{c.name} ({c.type}{', ' + c.unit if c.unit else ''}): {c.help}" for c in known[name].columns]
        return bounded("\n".join([f"{name}: {known[name].help}", *columns]), cursor)

    @answered
    def query(self, run: str, sql: str, cursor: int = 0) -> str:
        """Rows of one SELECT statement (SQLite's dialect) as CSV. Ids of rows (id, slice_id, gpu_op_id) can be used in further ones."""
        return _page(self._run(run).query(sql), cursor)

    @answered
    def predict(self, run: str, what: Sequence[str] = ()) -> str:
        """Predicts the speedup of fixes before anything is changed: each item is a combination such as "amp,workers=8"; none: each alone."""
        lines = ["what: speedup of a step (80 % interval)"]
        for one in self._run(run).predict(*what):
            if one.speedup is None:
                lines.append(f"{one.what}: {CANNOT}{one.refusal}")
            else:
                none = "; ".join(one.document.get("no_effect", []))
                lines.append(
                    f"{one.what}: {one.speedup:.2f} ({one.low:.2f}-{one.high:.2f}){f'; {none}' if none else ''}"
                )
        return bounded("\n".join(lines))

    @answered
    def compare_results(self, before: str, after: str) -> str:
        """Is the second faster? Of two files of results: of gapless, hyperfine, pytest-benchmark, Google Benchmark and others."""
        return _verdict("faster?", "compare", before, after)

    @answered
    def judge(self, before: Command, after: Command, budget: str = "4m") -> str:
        """Is the command `after` faster than `before` AND the same training, and how sure is that? Runs both in pairs; the first line is the verdict."""
        return _verdict("accepted?", "validate", "--budget", budget, "--", *_both(before, after))

    @answered
    def compare_commands(self, before: Command, after: Command, budget: str = "4m") -> str:
        """Is `after` faster? Runs both commands in pairs until that is decided or the budget is spent."""
        return _verdict("faster?", "compare", "--budget", budget, "--", *_both(before, after))

    @answered
    def same_training(self, before: Command, after: Command) -> str:
        """Do both commands train the same? Compares gradients, updates, data and settings, and says what it could have seen."""
        return _verdict("the same training?", "same", "--", *_both(before, after))

    @answered
    def optimize_command(self, command: Command, budget: str = "4m") -> str:
        """Finds, applies and proves fixes of a training command without editing it; leaves a recipe and a patch."""
        return bounded(say("optimize", "--budget", budget, "--", *command_words(command), accept=(0, 1)))

    def _run(self, name: str) -> Run:
        with self._lock:
            if name not in self._runs:
                raise ValueError(
                    f"there is no run {name!r}: open the recording first (open: {', '.join(self._runs) or 'none'})"
                )
            return self._runs[name]


def _both(before: Command, after: Command) -> list[str]:
    return [*command_words(before), "--", *command_words(after)]


def _verdict(question: str, *words: str) -> str:
    """The answer of the program in its first line, by its exit status, then what it prints."""
    strict = [] if words[0] == "same" else ["--strict"]  # 5 where it cannot tell, which `same` always says
    status, said = finish(words[0], *strict, *words[1:], accept=tuple(VERDICTS))
    return bounded(f"{question} {VERDICTS[status]} (exit status {status})\n{said}")


def _page(table: Table, cursor: int) -> str:
    """Rows as CSV from `cursor` on, as many as fit. A row's id can be used in the next statement."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    count, at = len(table), cursor
    for row in table.slice(cursor, MAX_CHARACTERS // 4).rows():
        before = out.tell()
        writer.writerow(["" if value is None else value for value in row.values()])
        if out.tell() > MAX_CHARACTERS - 120 and at > cursor:
            out.truncate(before)
            out.seek(before)
            break
        at += 1
    more = f"; ask again with cursor={at}" if at < count else ""
    return bounded(f"{out.getvalue()}rows {cursor + 1 if count else 0} to {at} of {count:,}{more}")
