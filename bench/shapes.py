#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how the processor time of recordings with very many of one thing grows with their number.

    bench/shapes.py PROGRAM [SHAPE...] [--number 16384] [--rounds 3] [--limit 1.1] [--write]

The shapes are those of tests/hostile_shapes.py. Each is made in three sizes, NUMBER, 4 and 16 times as many; NUMBER is
halved until the largest recording is below 100 MB. The time of a tiny recording is subtracted. The slope is the logarithm
of the ratio of two times by that of their sizes: 1 is time in proportion, 2 is the square. Two slopes are printed, over
all three sizes and over the two largest. The command fails if both are above the limit by more than the times vary
between rounds.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import re
import sys
import tempfile
from typing import NamedTuple

README = pathlib.Path(__file__).resolve().parent / "README.md"
sys.path.insert(0, str(README.parent.parent / "tests"))

from hostile_shapes import SHAPES, VERBS, own_times, processor_s, write_recording

SIZES = (1, 4, 16)
MAX_BYTES = 100_000_000
MIN_S = 0.002  # a clock's tick; shorter times are rounded up


class Growth(NamedTuple):
    """Times of one command on one shape, by size: the least of the rounds and the spread between rounds."""

    shape: str
    verb: str
    number: int
    seconds: tuple[float, ...]
    spread: tuple[float, ...]

    def slope(self, first: int) -> float:
        """Returns the slope from the size at index `first` to the largest."""
        return math.log(self.seconds[-1] / self.seconds[first]) / math.log(SIZES[-1] / SIZES[first])

    def noise(self, first: int) -> float:
        """Returns by how much the slope may be off if each time is off by its spread."""
        ratio = (1 + self.spread[-1] / self.seconds[-1]) * (1 + self.spread[first] / self.seconds[first])
        return math.log(ratio) / math.log(SIZES[-1] / SIZES[first])

    def exceeds(self, limit: float) -> bool:
        return all(self.slope(first) > limit + self.noise(first) for first in (0, 1))


def make_recordings(shape: str, number: int, folder: pathlib.Path) -> tuple[int, list[pathlib.Path]]:
    """Writes the recordings of the three sizes; returns the number of the smallest, and the paths."""
    smallest = folder / "1.json"
    while True:
        write_recording(shape, number, smallest)
        if smallest.stat().st_size * SIZES[-1] <= MAX_BYTES or number <= 16:
            break
        number //= 2
    paths = [folder / f"{size}.json" for size in SIZES]
    for size, path in zip(SIZES[1:], paths[1:]):
        write_recording(shape, number * size, path)
    return number, paths


def measure(program: str, shape: str, options: argparse.Namespace, folder: pathlib.Path) -> list[Growth]:
    number, paths = make_recordings(shape, options.number, folder)
    own = own_times(program, folder)
    rows = []
    for verb in VERBS:
        taken: list[list[float]] = [[] for _ in paths]
        for _ in range(options.rounds):
            for times, path in zip(taken, paths):
                times.append(max(processor_s(program, verb, path) - own[verb], MIN_S))
        spread = tuple(sorted(times)[len(times) // 2] - min(times) for times in taken)
        rows.append(Growth(shape, verb, number, tuple(min(times) for times in taken), spread))
    return rows


def line_of(row: Growth) -> str:
    times = " | ".join(f"{seconds:.3f}" for seconds in row.seconds)
    return f"| {row.shape} | {row.verb} | {row.number} | {times} | {row.slope(0):.2f} | {row.slope(1):.2f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="shapes to measure (default: all)")
    parser.add_argument("--number", type=int, default=16384, help="number of the smallest size (default 16384)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds in turn, of which the least counts (default 3)")
    parser.add_argument("--limit", type=float, default=1.1, help="highest slope (default 1.1)")
    parser.add_argument("--write", action="store_true", help="write the table to bench/README.md, too")
    options = parser.parse_args()
    lines = [
        "| shape | command | n | n: s | 4 n: s | 16 n: s | slope | of the last two |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    failures = []
    for shape in options.shapes or SHAPES:
        with tempfile.TemporaryDirectory() as name:
            for row in measure(str(options.program.resolve()), shape, options, pathlib.Path(name)):
                lines.append(line_of(row))
                print(lines[-1], flush=True)
                if row.exceeds(options.limit):
                    failures.append(f"{row.verb} of {row.shape} grows with a slope of {row.slope(0):.2f}")
    if options.write:
        block = "\n".join(["<!-- shapes -->", *lines, "<!-- /shapes -->"])
        README.write_text(
            re.sub(r"<!-- shapes -->.*?<!-- /shapes -->", lambda _: block, README.read_text(), flags=re.DOTALL)
        )
    print("\n".join(failures) or f"no slope is above {options.limit}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
