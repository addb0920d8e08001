#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of an extension point in batches (tools/batch_points.py): the same local names in several, names that a macro would break.
And names that sources of a room must not share (tools/check_local_names.py).

usage: batch_points_test.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import batch_points
import check_local_names

HEADER = """\
#pragma once
namespace gapless::internal {
enum class Kind { kPlain };
struct Entry { Kind kind; int value; };
}  // namespace gapless::internal
"""
FILE = """\
#include "entry.h"

namespace gapless::internal {{
namespace {{

constexpr int kValue = {value};
int Twice() {{ return 2 * kValue; }}

}}  // namespace

extern const Entry {name}_entry;
const Entry {name}_entry = {{Kind::kPlain, Twice()}};
{more}
}}  // namespace gapless::internal
"""
FUNCTION = """\
namespace gapless::internal {
namespace {
int Entry() { return 1; }
}  // namespace

int EntryOf() { return Entry(); }
}  // namespace gapless::internal
"""


class Batches(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "entry.h").write_text(HEADER)

    def file(self, name: str, value: int, more: str = "") -> Path:
        path = self.folder / f"{name}.cc"
        path.write_text(FILE.format(name=name, value=value, more=more))
        return path

    def test_the_same_local_names_compile_together(self) -> None:
        files = [self.file("one", 1), self.file("two", 2)]
        (batch,), alone = batch_points.split(files, 12)
        self.assertEqual((batch, alone), (files, []))
        source = self.folder / "batch.cc"
        source.write_text(batch_points.batch(batch))
        command = ["c++", "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", f"-I{self.folder}", str(source)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_local_name_that_another_file_takes_from_a_header(self) -> None:
        """The local function Entry of one file must not hide the type Entry of the others."""
        function = self.folder / "function.cc"
        function.write_text(FUNCTION)
        source = self.folder / "batch.cc"
        source.write_text(batch_points.batch([function, self.file("uses", 2)]))
        command = ["c++", "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", f"-I{self.folder}", str(source)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_a_macro_would_break_is_compiled_alone(self) -> None:
        plain = self.file("plain", 1)
        others = [
            self.file("qualified", 2, "int Other(Kind kind) { return kind == Kind::kValue; }"),
            self.file("conditional", 3, "#ifdef NEVER\n#endif"),
        ]
        self.assertEqual(batch_points.split([plain, *others], 12), ([[plain]], others))

    def test_batches_have_about_the_same_size(self) -> None:
        files = [self.file(f"file{number}", number) for number in range(13)]
        self.assertEqual([len(batch) for batch in batch_points.split(files, 12)[0]], [7, 6])


class LocalNames(unittest.TestCase):
    def test_values_of_a_plain_enumeration_are_names(self) -> None:
        text = "namespace {\nenum List : uint8_t { kCompute, kCopies };\nenum class Kind { kPlain };\n}  // namespace\n"
        found = {name for _, name, _ in check_local_names.names(text, local=True)}
        self.assertEqual(found, {"List", "kCompute", "kCopies", "Kind"})

    def test_only_functions_that_take_something_else_share_a_name(self) -> None:
        shared = [("Names", "type", "a.cc"), ("Names(int)", "function", "b.cc")]
        self.assertEqual(list(check_local_names.clashes(shared)), ["Names is local to a.cc and to b.cc"])
        overloads = [("Names(double)", "function", "a.cc"), ("Names(int)", "function", "b.cc")]
        self.assertEqual(list(check_local_names.clashes(overloads)), [])
        twice = [("Names(int)", "function", "a.cc"), ("Names(int)", "function", "b.cc")]
        self.assertEqual(list(check_local_names.clashes(twice)), ["Names(int) is local to a.cc and to b.cc"])


if __name__ == "__main__":
    unittest.main()
