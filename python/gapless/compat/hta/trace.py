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
from .reading import Events, Times, base_ns, frame, read, times
from .recorded import completed, content_of, many_objects, on_device, rows_of
from .symbols import STEP, TraceSymbolTable, as_hta_does, kind_by_name

logger = logging.getLogger("hta")
DEFAULT_TRACE_DIR = "/tmp/trace"
Files = Union[dict[int, str], Sequence[str], None]


def _open(path: str) -> recordings.Run | ProgramError:
    try:
        return recordings.open([path])
    except ProgramError as error:
        return error


def _rank_of(run: recordings.Run) -> int | None:
    rows = run.table("trace", ["rank"]).to_rows(1)
    rank = rows[0]["rank"] if rows else None
    return None if rank is None else int(rank)


class RecordedFrames(MutableMapping[int, Any]):
    """The frames of the files by rank, each made when it is asked for; a frame that is put in stays."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._made: dict[int, Any] = {}
        self._gone: set[int] = set()

    def __getitem__(self, rank: int) -> Any:
        if rank not in self._made:
            if rank in self._gone or rank not in self._trace.frames:
                raise KeyError(rank)
            frames = self._trace.frames
            self._made[rank] = frames[rank] if self._trace.as_hta else self._trace.recorded(rank)
        return self._made[rank]

    def __setitem__(self, rank: int, rows: Any) -> None:
        self._made[rank] = rows

    def __delitem__(self, rank: int) -> None:
        if rank not in set(self):
            raise KeyError(rank)
        self._made.pop(rank, None)
        self._gone.add(rank)

    def __contains__(self, rank: object) -> bool:
        return rank in self._made or (rank in self._trace.frames and rank not in self._gone)

    def __iter__(self) -> Iterator[int]:
        return iter([rank for rank in {**self._trace.frames, **self._made} if rank in self])

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
        self.frames: dict[int, Any] = {}
        self.traces: MutableMapping[int, Any] = RecordedFrames(self)
        self.meta_data: dict[int, dict[str, Any]] = {}
        self.trace_files: dict[int, str] = {}
        self.zero_ns = 0  # the first moment of all ranks, since the epoch of their files
        self._zero: float = 0  # the same in the time of the files, where HTA's mistakes are asked for
        self.is_parsed = False
        self._without_last: bool | None = None  # None: every row stays
        self.events: dict[int, Events] = {}
        self._runs = self._opened(trace_files)

    def _opened(self, given: Files) -> dict[int, recordings.Run]:
        """Opens the files, several at once, and finds out their ranks."""
        if given is None:
            paths = sorted(name for name in self._listed() if name.endswith((".gz", ".json")))
        else:
            paths = list(given.values()) if isinstance(given, dict) else list(given)
        paths = [self._place_of(os.fspath(path)) for path in paths]
        with ThreadPoolExecutor(max(1, min(len(paths), os.cpu_count() or 1))) as pool:
            opened = list(pool.map(_open, paths))
        ranks = list(given) if isinstance(given, dict) else [None] * len(paths)
        runs: dict[int, recordings.Run] = {}
        for rank, path, run in zip(ranks, paths, opened):
            if isinstance(run, ProgramError):
                if given is not None:
                    raise run
                logger.warning("%s is left out: %s", path, run)
                continue
            number = int(rank) if rank is not None else _rank_of(run) or 0
            if number in runs:
                logger.warning("%s and %s have rank %d; the second is taken", self.trace_files[number], path, number)
            runs[number], self.trace_files[number] = run, path
        return runs

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
        ranks = sorted(self._runs)[: None if max_ranks < 0 else max_ranks]
        if not ranks:
            raise ProgramError(f"there is no recording that can be read in {self.trace_path}", 3)
        if self.as_hta:
            self._read_as_hta(ranks)
        else:
            self._read_tables(ranks)
        self.meta_data = {rank: {} for rank in self.frames}
        self.is_parsed = True

    def _read_as_hta(self, ranks: list[int]) -> None:
        for rank in ranks:
            with many_objects():
                rows = rows_of(self.get_raw_trace_for_one_rank(rank)["traceEvents"], self.symbol_table)
            if len(rows):
                self.frames[rank] = rows
        if not self.frames:
            raise ProgramError(f"no event with a duration was recorded in {self.trace_path}", 3)
        self._zero = min(rows["ts"].min() for rows in self.frames.values())
        self.frames = {rank: completed(rows, self._zero, self.symbol_table) for rank, rows in self.frames.items()}

    def _read_tables(self, ranks: list[int]) -> None:
        read_times: dict[int, Times] = {}
        for rank in ranks:
            events = read(self._runs[rank], self.trace_files[rank], self.symbol_table)
            if len(events.name):
                self.events[rank], read_times[rank] = events, times(events)
        if not self.events:
            raise ProgramError(f"no event with a duration was recorded in {self.trace_path}", 3)
        zero_ns = int(min(np.min(at.start) * (1000 // at.unit) for at in read_times.values()))
        self.zero_ns = zero_ns
        for rank, events in self.events.items():
            self.frames[rank] = frame(events, read_times[rank], zero_ns, self.symbol_table)

    def with_all_steps(self) -> Trace:
        """The same recordings with all their rows."""
        whole = copy.copy(self)
        whole.frames, whole.events, whole.meta_data, whole._without_last = {}, {}, {}, None
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
        cut = as_hta.without_last_step if self.as_hta else _without_last_step
        for rank, rows in self.frames.items():
            self.frames[rank] = cut(rows, steps, bool(include_last_profiler_step), self.symbol_table)

    def recorded(self, rank: int) -> Any:
        """The rows of the rank's file by their places in it, without those that are left out of the analyses."""
        with many_objects():
            rows = rows_of(self.get_raw_trace_for_one_rank(rank)["traceEvents"], self.symbol_table)
        others = [
            (int(np.min(events.ts_ns)) - base_ns(events.path)) / 1000
            for one, events in self.events.items()
            if one != rank
        ]
        rows = completed(rows, min([rows["ts"].min(), *others]), self.symbol_table)
        if self._without_last is None:
            return rows
        steps = self.symbol_table.ids_where(STEP.match)
        return _without_last_step(rows, steps, not self._without_last, self.symbol_table)

    def get_ranks(self) -> list[int]:
        return sorted(self.frames)

    def get_iterations(self, rank: int | None = None) -> list[int]:
        rank = self.get_ranks()[0] if rank is None else rank
        if rank not in self.frames:
            return []
        return sorted(int(number) for number in self.frames[rank]["iteration"].unique() if number >= 0)

    def rows(self, rank: int) -> Any:
        """The rows of the rank that the tables have."""
        if rank not in self.frames:
            raise ValueError(f"there is no rank {rank}; there are: {', '.join(map(str, self.get_ranks()))}")
        return self.frames[rank]

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
        return self.file_time_of_zero(self.trace_files[self.get_ranks()[0]]) if self.frames else 0

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
            rows["kind"] = self.events[rank].kind[rows["index"].to_numpy() - 1]
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


def _without_last_step(rows: Any, steps: Any, with_last: bool, symbols: TraceSymbolTable) -> Any:
    """Rows of the host before the last step begins (`with_last`: up to its end), and what they launched."""
    device = on_device(rows, symbols)
    marks = rows["name"].isin(steps).to_numpy() & ~device
    last = rows[marks] if marks.any() else rows[~device]
    starts = rows["ts"].to_numpy()
    if not len(last):
        return rows
    if with_last:
        kept = starts <= (last["ts"] + last["dur"]).max()
    else:
        kept = starts < (last["ts"].max() if marks.any() else last["ts"].min())
    kept &= ~device
    launched = device & rows["correlation"].isin(rows.loc[kept, "correlation"]).to_numpy()
    return rows[launched | kept].copy()
