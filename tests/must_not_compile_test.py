#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that the compiler finds: lines that compile, and lines like them that do not, each with a word of what the compiler says.

usage: must_not_compile_test.py [COMPILER]
"""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "c++"

CELLS = """
#include "analyses/columns.h"
#include "analyses/rows/launches.h"
namespace gapless::internal {
using Cells = TableOf<LaunchesRows>;
"""
CELLS_LINE = "void Line{number}(Cells& table, Cells::RowWriter& row, const int64_t calls) {{ {line} }}"
CELLS_END = "}\n"
NO_COLUMN = "IndexOfColumn"  # the function that looks names up


class MustNotCompile(unittest.TestCase):
    def errors(self, begin: str, frame: str, end: str, lines: list[str]) -> dict[str, str]:
        """The compiler's words about the lines that do not compile, each in a function of its own."""
        text = "".join(frame.format(number=number, line=line) + "\n" for number, line in enumerate(lines))
        command = [COMPILER, "-std=c++20", "-fsyntax-only", f"-I{ROOT}/src", f"-I{ROOT}/include", "-xc++", "-"]
        done = subprocess.run(command, input=begin + text + end, check=False, capture_output=True, text=True)
        errors: dict[str, str] = {}
        before, line, first = "", "", begin.count("\n") + 1
        for said in done.stderr.splitlines(keepends=True):
            if place := re.match(r"<stdin>:(\d+):", said):
                line = lines[int(place[1]) - first]
                errors[line] = errors.get(line, "") + before + said
                before = ""
            else:  # compilers give the reason before the place or after it
                before += said
                if line:
                    errors[line] += said
        self.assertEqual(done.returncode != 0, bool(errors), done.stderr)
        return errors

    def check(self, frame: tuple[str, str, str], right: list[str], wrong: dict[str, str]) -> None:
        self.assertEqual(self.errors(*frame, right), {})
        errors = self.errors(*frame, list(wrong))
        for line, because in wrong.items():
            self.assertIn(line, errors)
            self.assertIn(because, errors[line])

    def test_cells_of_an_analysis(self) -> None:
        right = [
            'row.Set("calls", calls).Set("calls_per_step", 0.5);',
            'row.SetEach({"call_p50_ns", "call_p95_ns"}, std::array{calls, calls});',
            "table.Row(); static_cast<Table&>(table).Reserve(1);",
        ]
        wrong = {
            'row.Set("call", calls);': NO_COLUMN,
            'row.Set("calls", 0.5);': NO_COLUMN,
            'row.Set("calls", "many");': NO_COLUMN,
            'row.SetEach({"call_p50_ns", "call_p95_ns"}, std::array{calls});': "SetEach",
            "row.Int(calls);": "Int",
            "table.SetInt(3, calls);": "protected",
            "static_cast<Table&>(table).AddRow();": "protected",
        }
        self.check((CELLS, CELLS_LINE, CELLS_END), right, wrong)


if __name__ == "__main__":
    unittest.main()
