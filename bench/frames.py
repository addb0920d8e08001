#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A large recorded table as a frame of pandas and of Polars: milliseconds, and which columns are copied on the way.

usage: frames.py [--rows 10000000] [--turns 5] [--folder FOLDER]

To be run by a Python that has pandas, Polars and NumPy, with `python/` of this repository in PYTHONPATH, GAPLESS_PROGRAM and GAPLESS_LIBRARY
set. A recording with so many kernels is written into FOLDER and read. The table is that of its kernels: name, stream, start, duration,
correlation and bytes; `bytes` is absent in every row. Conversions are timed alone, a median of the turns. A column counts as copied when the frame has it
somewhere else than the library.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COLUMNS = ("name", "stream", "ts_ns", "dur_ns", "correlation", "bytes")
BLOCK = 100_000
NAMES = 40


def write_recording(path: Path, rows: int) -> None:
    """Kernels of 4 streams, one after the other."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        for first in range(0, rows, BLOCK):
            lines = (
                f'{{"ph":"X","cat":"kernel","name":"kernel_{row % NAMES}","pid":0,"tid":{row % 4 + 7},"ts":{row * 3},"dur":2,'
                f'"args":{{"device":0,"stream":{row % 4 + 7},"correlation":{row + 1}}}}}'
                for row in range(first, min(first + BLOCK, rows))
            )
            file.write(("" if first == 0 else ",\n") + ",\n".join(lines))
        file.write("\n]}\n")


def library_addresses(table: Any) -> dict[str, int]:
    """The addresses at which the library has the values of each column."""
    from gapless.frames import batches, schema_of

    stream = table._stream()
    schema_of(stream)
    (only,) = batches(stream)
    children = only.held.children
    found = {}
    for at, name in enumerate(table.column_names):
        child = children[at].contents
        found[name] = int(child.buffers[1] or 0)
    return found


def pandas_address(column: Any) -> int:
    values = column.array
    for part in ("_codes", "_data", "_ndarray"):
        values = getattr(values, part, values)
    return int(values.__array_interface__["data"][0])


def polars_address(column: Any) -> int:
    """The address at which Polars has it: an export by Arrow is its own memory."""
    import polars
    from gapless import native
    from gapless.frames import batches

    if column.dtype in (polars.Categorical, polars.Enum):
        column = column.to_physical()
    capsule = column.__arrow_c_stream__()
    stream = native.ArrowArrayStream.from_address(
        native._python.PyCapsule_GetPointer(id(capsule), b"arrow_array_stream")
    )
    array = batches(stream)[0].held
    return int(array.buffers[1] or 0)


def timed(turns: int, convert: Callable[[], Any]) -> tuple[float, Any]:
    seconds, made = [], None
    for _ in range(turns):
        made = None
        begun = time.perf_counter()
        made = convert()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds) * 1e3, made


def shown(name: str, ms: float, copied: list[str], numbers: list[str]) -> str:
    of_numbers = [column for column in copied if column in numbers]
    return f"{name:8} {ms:9.2f} ms   copied: {', '.join(copied) or 'none'} ({len(of_numbers)} of {len(numbers)} columns of numbers)"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--folder")
    options = parser.parse_args()
    import gapless

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "large.pt.trace.json"
        write_recording(path, options.rows)
        size = path.stat().st_size
        begun = time.perf_counter()
        run = gapless.open(path, cache=False)
        seconds = time.perf_counter() - begun
    table = run.table("gpu_op", COLUMNS)
    print(f"{len(table):,} rows, {len(COLUMNS)} columns; {size / 1e6:,.0f} MB read in {seconds:.1f} s")
    numbers = [column.name for column in table.columns if column.type != "text"]
    where = library_addresses(table)
    for name, convert, address in (
        ("pandas", table.to_pandas, pandas_address),
        ("polars", table.to_polars, polars_address),
    ):
        ms, frame = timed(options.turns, convert)
        copied = [column for column in COLUMNS if address(frame[column]) != where[column]]
        print(shown(name, ms, copied, numbers))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
