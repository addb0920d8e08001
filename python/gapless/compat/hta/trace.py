# SPDX-License-Identifier: Apache-2.0
"""The recordings of a job, one for each rank, as DataFrames with HTA's columns.

There are two kinds of frames. Those of `Trace.rows` are made of the tables; the analyses use them, and they are there at once. Those of
`Trace.traces` and `get_trace` have every row and argument of the file under its place in it, as in HTA, and take reading the JSON, which is
done for the ranks that somebody asks for. Where HTA's mistakes are asked for, the analyses use the latter, too.
"""

from __future__ import annotations

import copy
import gzip
import json
import logging
import os
from collections.abc import Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Union

import numpy as np

from ... import run as recordings
from ...program import ProgramError
from . import as_hta
from .reading import Events, base_ns, frame
from .recorded import completed, content_of, many_objects, on_device, rows_of, since
from .symbols import STEP, TraceSymbolTable, as_hta_does, kind_by_name
from .work import Work, work_of_frame, work_of_tables

logger = logging.getLogger("hta")
DEFAULT_TRACE_DIR = "/tmp/trace"
Files = Union[dict[int, str], Sequence[str], None]


def _open(path: str) -> Events | ProgramError:
    try:
        return Events(recordings.open([path]), path)
    except ProgramError as error:
        return error


class RecordedFrames(MutableMapping[int, Any]):
    """The frames of the files by rank, each made when it is asked for; a frame that is put in stays."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._made: dict[int, Any] = {}
        self._gone: set[int] = set()

    def __getitem__(self, rank: int) -> Any:
        if rank not in self._made:
            if rank in self._gone or rank not in self._trace.ranks:
                raise KeyError(rank)
            self._made[rank] = self._trace.rows(rank) if self._trace.as_hta else self._trace.recorded(rank)
        return self._made[rank]

    def __setitem__(self, rank: int, rows: Any) -> None:
        self._made[rank] = rows

    def __delitem__(self, rank: int) -> None:
        if rank not in set(self):
            raise KeyError(rank)
        self._made.pop(rank, None)
        self._gone.add(rank)

    def __contains__(self, rank: object) -> bool:
        return rank in self._made or (rank in self._trace.ranks and rank not in self._gone)

    def __iter__(self) -> Iterator[int]:
        return iter([rank for rank in dict.fromkeys([*self._trace.ranks, *self._made]) if rank in self])

    def __len__(self) -> int:
        return len(list(iter(self)))


class Trace:
    """The recordings of a job: `traces` has a DataFrame for each rank, whose names and categories are numbers of `symbol_table`."""

    def __init__(
        self, trace_files: Files = None, trace_dir: str = DEFAULT_TRACE_DIR, parser_config: Any = None
    ) -> None:
        self.trace_path = os.path.abspath(os.path.expanduser(trace_dir))
        self.parser_config = parser_config
        self.as_hta = as_hta_does()
        self.symbol_table = TraceSymbolTable()
        self.ranks: list[int] = []
        self._rows: dict[int, Any] = {}
        self._works: dict[int, Work] = {}
        self.traces: MutableMapping[int, Any] = RecordedFrames(self)
        self.meta_data: dict[int, dict[str, Any]] = {}
        self.trace_files: dict[int, str] = {}
        self.zero_ns = 0  # the first moment of all ranks, since the epoch of their files
        self._zero: float = 0  # the same in the time of the files, where HTA's mistakes are asked for
        self.is_parsed = False
        self._without_last: bool | None = None  # None: every row stays
        self._opened = self._open_all(trace_files)
        self.events: dict[int, Events] = {}

    def _open_all(self, given: Files) -> dict[int, Events]:
        """Opens the files, several at once, and finds out their ranks."""
        if given is None:
            paths = sorted(name for name in self._listed() if name.endswith((".gz", ".json")))
        else:
            paths = list(given.values()) if isinstance(given, dict) else list(given)
        paths = [self._place_of(os.fspath(path)) for path in paths]
        with ThreadPoolExecutor(max(1, min(len(paths), os.cpu_count() or 1))) as pool:
            opened = list(pool.map(_open, paths))
        ranks = list(given) if isinstance(given, dict) else [None] * len(paths)
        found: dict[int, Events] = {}
        for rank, path, events in zip(ranks, paths, opened):
            if isinstance(events, ProgramError):
                if given is not None:
                    raise events
                logger.warning("%s is left out: %s", path, events)
                continue
            number = int(rank) if rank is not None else max(events.rank, 0)
            if number in found:
                logger.warning("%s and %s have rank %d; the second is taken", self.trace_files[number], path, number)
            found[number], self.trace_files[number] = events, path
        return found

    def _place_of(self, path: str) -> str:
        below = os.path.join(self.trace_path, path)
        return below if os.path.exists(below) or not os.path.exists(path) else os.path.abspath(path)

    def _listed(self) -> list[str]:
        if not os.path.isdir(self.trace_path):
            raise ProgramError(
                f"there is no folder {self.trace_path}: name one by trace_dir, or files by trace_files", 3
            )
        return os.listdir(self.trace_path)

    def parse_traces(
        self, max_ranks: int = -1, use_multiprocessing: bool = True, use_memory_profiling: bool = True
    ) -> None:
        """Makes the DataFrames of all ranks, with all their rows."""
        ranks = sorted(self._opened)[: None if max_ranks < 0 else max_ranks]
        if not ranks:
            raise ProgramError(f"there is no recording that can be read in {self.trace_path}", 3)
        if self.as_hta:
            self._read_as_hta(ranks)
        else:
            self._read_tables(ranks)
        if not self.ranks:
            raise ProgramError(f"no event with a duration was recorded in {self.trace_path}", 3)
        self.meta_data = {rank: {} for rank in self.ranks}
        self.is_parsed = True

    def _read_as_hta(self, ranks: list[int]) -> None:
        found = {}
        for rank in ranks:
            with many_objects():
                rows = rows_of(self.get_raw_trace_for_one_rank(rank)["traceEvents"], self.symbol_table)
            if len(rows):
                found[rank] = rows
        self.ranks = list(found)
        self._zero = min((rows["ts"].min() for rows in found.values()), default=0)
        self._rows = {rank: completed(rows, self._zero, self.symbol_table) for rank, rows in found.items()}

    def _read_tables(self, ranks: list[int]) -> None:
        self.events = {rank: copy.copy(self._opened[rank]) for rank in ranks if len(self._opened[rank].ts_ns)}
        self.ranks = list(self.events)
        for events in self.events.values():
            events.name_with(self.symbol_table)
        self.zero_ns = min((int(events.ts_ns.min()) for events in self.events.values()), default=0)

    def with_all_steps(self) -> Trace:
        """The same recordings with all their rows."""
        whole = copy.copy(self)
        whole.ranks, whole._rows, whole._works, whole.events, whole.meta_data = [], {}, {}, {}, {}
        whole._without_last = None
        whole.traces = RecordedFrames(whole)
        whole.parse_traces()
        return whole

    def load_traces(
        self,
        include_last_profiler_step: bool | None = False,
        use_multiprocessing: bool = True,
        use_memory_profiling: bool = True,
    ) -> None:
        """Makes the DataFrames; without the last step if there are several, unless it is asked for."""
        if self.is_parsed:
            logger.warning("the recordings are read already")
            return
        self.parse_traces()
        self.align_and_filter_trace(include_last_profiler_step)

    def align_and_filter_trace(self, include_last_profiler_step: bool | None = False) -> None:
        steps = self.symbol_table.ids_where(STEP.match)
        if len(steps) < 2:
            return
        self._without_last = not include_last_profiler_step
        for rank in self.ranks:
            if self.as_hta:
                self._rows[rank] = as_hta.without_last_step(
                    self._rows[rank], steps, not self._without_last, self.symbol_table
                )
            else:
                self.events[rank].kept = _kept_of(self.events[rank], steps, not self._without_last)
                self._rows.pop(rank, None)
                self._works.pop(rank, None)

    def recorded(self, rank: int) -> Any:
        """The rows of the rank's file by their places in it, without those that are left out of the analyses."""
        with many_objects():
            content = content_of(self.trace_files[rank], exact=True)
            rows = rows_of(content["traceEvents"], self.symbol_table, in_ns=True)
        others = [
            int(np.min(events.ts_ns)) - base_ns(events.path) for one, events in self.events.items() if one != rank
        ]
        rows = completed(since(rows, min([int(rows["ts"].min()), *others])), 0, self.symbol_table)
        if self._without_last is None:
            return rows
        steps = self.symbol_table.ids_where(STEP.match)
        device = on_device(rows, self.symbol_table)
        name, start, lasting, correlation = (rows[one].to_numpy() for one in ("name", "ts", "dur", "correlation"))
        return rows[_kept(device, name, start, lasting, correlation, steps, not self._without_last)].copy()

    @property
    def frames(self) -> dict[int, Any]:
        """The rows that the analyses see, by rank."""
        return {rank: self.rows(rank) for rank in self.ranks}

    def get_ranks(self) -> list[int]:
        return sorted(self.ranks)

    def get_iterations(self, rank: int | None = None) -> list[int]:
        rank = self.get_ranks()[0] if rank is None else rank
        if rank not in self.ranks:
            return []
        return sorted(int(number) for number in self.rows(rank)["iteration"].unique() if number >= 0)

    def rows(self, rank: int) -> Any:
        """The rows of the rank that the analyses see."""
        if rank not in self.ranks:
            raise ValueError(f"there is no rank {rank}; there are: {', '.join(map(str, self.get_ranks()))}")
        if rank not in self._rows:
            self._rows[rank] = frame(self.events[rank], self.zero_ns, self.symbol_table)
        return self._rows[rank]

    def work(self, rank: int) -> Work:
        """Its device work as arrays."""
        if self.as_hta or rank not in self.ranks:
            return work_of_frame(self.gpu_rows(rank), self.rows(rank)["ts"])
        if rank not in self._works:
            self._works[rank] = work_of_tables(self.events[rank], self.zero_ns)
        return self._works[rank]

    def get_trace(self, rank: int) -> Any:
        """The rows of the rank's file; the index is the place of the event in it."""
        if rank not in self.traces:
            self.rows(rank)
        return self.traces[rank]

    def get_all_traces(self) -> MutableMapping[int, Any]:
        return self.traces

    def get_trace_duration(self, rank: int | None = None) -> Any:
        starts = self.rows(self.get_ranks()[0] if rank is None else rank)["ts"]
        return starts.max() - starts.min()

    @property
    def min_ts(self) -> float:
        """The first moment of all ranks in the time of the files, in microseconds."""
        return self.file_time_of_zero(self.trace_files[self.get_ranks()[0]]) if self.ranks else 0

    def file_time_of_zero(self, path: str) -> float:
        """The time, in microseconds, that this file has where the frames have 0."""
        if self.as_hta:
            return self._zero
        since = self.zero_ns - base_ns(path)
        return since // 1000 if since % 1000 == 0 else since / 1000

    def get_trace_start_unixtime_ns(self, rank: int) -> int:
        self.rows(rank)
        if self.as_hta:
            return round(self._zero * 1000) + base_ns(self.trace_files[rank])
        return int(np.min(self.events[rank].ts_ns))

    def gpu_rows(self, rank: int) -> Any:
        """The rows of device work, with `kind`: a number of KINDS."""
        rows = self.rows(rank)
        rows = rows[rows["stream"] != -1].copy()
        if self.as_hta:
            kinds = np.zeros(len(self.symbol_table.sym_table), np.int8)
            used = rows["name"].unique()
            kinds[used] = [kind_by_name(self.symbol_table.sym_table[name]) for name in used]
            rows["kind"] = kinds[rows["name"].to_numpy()]
        else:
            rows["kind"] = self.events[rank].kinds[rows["index"].to_numpy() - 1 - self.events[rank].slices]
        return rows

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Adds s_name and s_cat, the texts of the numbers, to all DataFrames."""
        for rows in self.traces.values():
            decode(rows, self.symbol_table, use_shorten_name)

    def get_raw_trace_for_one_rank(self, rank: int = 0) -> dict[str, Any]:
        """The JSON of the file."""
        return content_of(self.trace_files[rank])

    def write_raw_trace(self, output_file: str, trace_contents: dict[str, Any]) -> None:
        """Writes JSON; packed, whatever the name ends in, as HTA does."""
        with gzip.open(output_file, "wt") as file:
            json.dump(trace_contents, file)


def ranks_of(given: Sequence[int] | None) -> list[int]:
    """The ranks that were asked for; rank 0 if none were."""
    return [0] if given is None or not len(given) else list(given)


def decode(rows: Any, symbols: TraceSymbolTable, shortened: bool) -> None:
    """Adds the texts of name, cat and user_annotation as columns s_…"""
    import pandas as pd

    for column in ("name", "cat", "user_annotation"):
        if column in rows.columns and rows[column].dtype.kind == "i":
            rows[f"s_{column}"] = pd.Series(symbols.texts(rows[column], shortened), index=rows.index, dtype="str")


def _kept_of(events: Events, steps: Any, with_last: bool) -> Any:
    device = (events.stream >= 0) & (events.correlation >= 0)
    return _kept(device, events.name, events.ts_ns, events.dur_ns, events.correlation, steps, with_last)


def _kept(device: Any, name: Any, start: Any, lasting: Any, correlation: Any, steps: Any, with_last: bool) -> Any:
    """A mask of the host's rows before the last step begins (`with_last`: up to its end), and of what they launched."""
    host = ~device
    marks = host & np.isin(name, steps)
    last = marks if marks.any() else host
    if not last.any():
        return np.ones(len(name), bool)
    if with_last:
        kept = host & (start <= (start[last] + lasting[last]).max())
    else:
        kept = host & (start < (start[last].max() if marks.any() else start[last].min()))
    kept[device] = np.isin(correlation[device], correlation[kept])
    return kept
