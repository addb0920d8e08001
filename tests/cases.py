#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of one script or folder of tests, and says what each took.

A file of real training has many cases, and a version of PyTorch makes each of them once more. CI runs those marked @in_ci, at
least one for each thing the file is about. Where only a few cases take long, these are marked @not_in_ci instead, and CI runs all
others. The schedule and `make test-all` run every case.

usage of a script that calls main(): SCRIPT PROGRAM [--ci] [--only PATTERN...]
usage on a folder: cases.py FOLDER [--ci] [--only PATTERN...]

PATTERN is a module, a class, a case or a part of one, as in `python -m unittest -k`.
"""

from __future__ import annotations

import argparse
import sys
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

Marked = TypeVar("Marked")
SLOWEST = 25  # cases that are listed at the end
WORTH_SAYING_S = 1.0


def in_ci(case: Marked) -> Marked:
    """Marks a case, or every case of a class, as one that CI runs."""
    setattr(case, "in_ci", True)  # noqa: B010  (an attribute that neither functions nor classes declare)
    return case


def not_in_ci(case: Marked) -> Marked:
    """Marks a case that CI leaves to the schedule, in a script that has no case marked @in_ci."""
    setattr(case, "not_in_ci", True)  # noqa: B010
    return case


def is_marked(case: unittest.TestCase, mark: str) -> bool:
    method = getattr(case, case.id().rsplit(".", 1)[-1], None)
    return bool(getattr(case, mark, False) or getattr(method, mark, False))


def those_of_ci(cases: list[unittest.TestCase]) -> list[unittest.TestCase]:
    if any(is_marked(case, "not_in_ci") for case in cases):
        return [case for case in cases if not is_marked(case, "not_in_ci")]
    return [case for case in cases if is_marked(case, "in_ci")]


def cases_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases_of(test)
        else:
            yield test


class TimedResult(unittest.TextTestResult):
    """Keeps how long each case took."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.seconds: dict[str, float] = {}
        self.begun = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        self.begun = time.monotonic()
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.seconds[test.id()] = time.monotonic() - self.begun


def run(suite: unittest.TestSuite, ci: bool, only: list[str]) -> int:
    """The exit status: 0 when all that was asked for passed, 5 when nothing was."""
    every = list(cases_of(suite))
    chosen = [
        case for case in (those_of_ci(every) if ci else every)
        if not only or any(pattern in case.id() for pattern in only)
    ]  # fmt: skip
    if not chosen:
        print(f"no case fits{' --ci' if ci else ''}{' --only ' + ' '.join(only) if only else ''}", file=sys.stderr)
        return 5
    runner = unittest.TextTestRunner(resultclass=TimedResult, verbosity=1)
    result = runner.run(unittest.TestSuite(chosen))
    assert isinstance(result, TimedResult)
    for name, seconds in sorted(result.seconds.items(), key=lambda item: -item[1])[:SLOWEST]:
        if seconds >= WORTH_SAYING_S:
            print(f"{seconds:7.1f} s  {name}", file=sys.stderr)
    return 0 if result.wasSuccessful() else 1


def arguments(description: str = "") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--ci", action="store_true", help="only the cases that CI runs")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PATTERN", help="only the cases that have it in their name"
    )
    return parser


def options(given: argparse.Namespace) -> list[str]:
    """Returns the parsed options as command-line words for another Python."""
    return [*(["--ci"] if given.ci else []), *(["--only", *given.only] if given.only else [])]


def main(words: list[str]) -> int:
    """For a script: runs the cases of the program itself."""
    given = arguments().parse_args(words)
    return run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]), given.ci, given.only)


def main_of_folder(words: list[str]) -> int:
    parser = arguments()
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(words)
    sys.modules["cases"] = sys.modules["__main__"]  # so that the marks of the files are these
    return run(unittest.defaultTestLoader.discover(str(given.folder)), given.ci, given.only)


if __name__ == "__main__":
    sys.exit(main_of_folder(sys.argv[1:]))
