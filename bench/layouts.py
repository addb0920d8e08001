#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times reading and analysing of six layouts and of many ranks, and checks that the table in bench/README.md holds.

    bench/layouts.py BUILD_DIR [--size 1000] [--tenfold] [--ranks 64 256 1024] [--rank-size 0] [--rounds 3] [--write]
    bench/layouts.py --check

Inputs are made from the recordings below GAPLESS_CORPUS (../shared/data if unset): the same events later, with ids of their
own. They lie in a temporary folder that is deleted at the end. The aims are about files of 1000 MB. `--check` fails if the
table misses an aim, was measured on less, or is older than 30 days.
"""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from layout_inputs import LAYOUTS, in_own_process, make_layout, make_ranks
from layout_table import README, Row, check, table_of
from layout_timing import Taken, count_events, take


def ratio(rounds: list[dict[str, Taken]], name: str, base: str) -> float:
    """Returns the median over the rounds of the ratio of two wall times of one round."""
    ratios = sorted(taken[name].seconds / taken[base].seconds for taken in rounds)
    return ratios[len(ratios) // 2]


def median(rounds: list[dict[str, Taken]], name: str) -> float:
    seconds = sorted(taken[name].seconds for taken in rounds)
    return seconds[len(seconds) // 2]


def measure_layout(
    name: str, path: pathlib.Path, build: pathlib.Path, rounds: int
) -> tuple[list[Row], dict[str, float]]:
    """Returns the rows of one layout, and the median seconds of `tables` and `analyze`."""
    tables, threads = str(build / "bench/tables"), str(len(os.sched_getaffinity(0)))
    commands = {
        "yardstick": [str(build / "bench/yardstick"), str(path), threads],
        "tables": [tables, str(path)],
        "analyze": [str(build / "gapless"), "analyze", "--no-cache", str(path)],
    }
    touch = path.stat().st_size // 2  # more than any of the commands takes
    taken = [{key: take(command, touch) for key, command in commands.items()} for _ in range(rounds + 1)][1:]
    events = count_events(tables, path)
    bytes_an_event = (max(run["analyze"].peak_bytes for run in taken) - 128 * 2**20) / events
    rows = [
        Row(name, "tables ÷ yardstick", ratio(taken, "tables", "yardstick"), 1.5),
        Row(name, "analyze ÷ tables", ratio(taken, "analyze", "tables"), 1.5),
        Row(name, "bytes of peak memory an event, above 128 MiB", max(bytes_an_event, 0), 90),
    ]
    return rows, {key: median(taken, key) for key in ("tables", "analyze")}


def measure_layouts(options: argparse.Namespace, folder: pathlib.Path) -> list[Row]:
    rows: list[Row] = []
    for name, recording in LAYOUTS.items() if options.size else ():
        print(name, file=sys.stderr)
        path = folder / "layout.json"
        in_own_process(make_layout, recording, path, options.size * 10**6)
        added, seconds = measure_layout(name, path, options.build, options.rounds)
        rows += added
        if options.tenfold:
            in_own_process(make_layout, recording, path, options.size * 10**7)
            added, longer = measure_layout(f"{name}, ten times the size", path, options.build, min(options.rounds, 3))
            rows += added
            rows += [Row(name, f"growth of {key} at ten times", longer[key] / seconds[key], 11.8) for key in seconds]
        path.unlink()
    return rows


def measure_ranks(options: argparse.Namespace, folder: pathlib.Path) -> list[Row]:
    """Times the ranks of each count, and compares each count's time with that of the count before it."""
    rows: list[Row] = []
    before: tuple[int, float] | None = None
    program = str(options.build / "gapless")
    rounds = options.rounds if options.rank_size else max(options.rounds, 7)  # short, so that few rounds say little
    for count in options.ranks:
        print(f"{count} ranks", file=sys.stderr)
        ranks = folder / f"ranks{count}"
        in_own_process(make_ranks, ranks, count, options.rank_size * 10**6)
        read = [program, "query", "--no-cache", str(ranks), "SELECT 1"]
        analyze = [program, "analyze", "--no-cache", str(ranks)]
        touch = 2**30
        taken = [{"read": take(read, touch), "analyze": take(analyze, touch)} for _ in range(rounds)]
        shutil.rmtree(ranks)
        of_size = f" of {options.rank_size} MB" if options.rank_size else ""
        name, seconds = f"{count} ranks{of_size}", median(taken, "analyze")
        rows.append(Row(name, "analyze ÷ reading", ratio(taken, "analyze", "read"), 3))
        rows.append(Row(name, "peak memory in MiB", max(run["analyze"].peak_bytes for run in taken) / 2**20, 4096))
        if before:
            rows.append(
                Row(name, f"growth from {before[0]} ranks ÷ share", seconds / before[1] * before[0] / count, 1.15)
            )
        before = (count, seconds)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--size", type=int, default=1000, help="megabytes of each layout (default 1000); 0: none")
    parser.add_argument("--tenfold", action="store_true", help="measure ten times the size, too")
    parser.add_argument(
        "--ranks", type=int, nargs="*", default=[64, 256, 1024], help="counts of ranks (default 64 256 1024)"
    )
    parser.add_argument("--rank-size", type=int, default=0, help="megabytes of each rank (default 0: 0.9, as recorded)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds in turn (default 3)")
    parser.add_argument(
        "--write", action="store_true", help="write the table to bench/README.md instead of printing it"
    )
    parser.add_argument("--check", action="store_true", help="check the table in bench/README.md, measure nothing")
    options = parser.parse_args()
    today = datetime.date.today()
    if options.check:
        problems = check(README.read_text(), today)
        print("\n".join(problems) or "every aim is met, and the table is recent")
        return 1 if problems else 0
    if not options.build:
        parser.error("name the folder of the build, or --check")
    with tempfile.TemporaryDirectory() as name:
        rows = measure_layouts(options, pathlib.Path(name)) + measure_ranks(options, pathlib.Path(name))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout
    table = table_of(rows, commit.strip(), today, options.size, options.tenfold)
    if options.write:
        text = README.read_text()
        README.write_text(re.sub(r"<!-- layouts -->.*?<!-- /layouts -->", lambda _: table, text, flags=re.DOTALL))
    else:
        print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
