#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that the compiler finds: lines or sources that compile, and ones like them that do not, each with a word of what it says.

usage: must_not_compile_test.py [COMPILER]
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

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


class Change(NamedTuple):
    """A change to a source that compiles, and what the compiler then says."""

    source: str
    good: str
    bad: str
    said: str  # a regular expression


ROWS = """\
#include "trace/builder.h"

namespace gapless::internal {
void Read(TraceBuilder::Shard& shard) {
  shard.Add(GpuOpRow{.name = shard.Text("gemm"), .ts_ns = 1, .dur_ns = 2, .graph_node_id = 3});
}
int64_t NodeOf(const Trace& trace) { return trace.gpu_ops.graph_node_id[0]; }
}  // namespace gapless::internal
"""

# A table of its own, with the members and the list that CHANGES change.
TABLE = """\
#include "query/cells.h"

namespace gapless::internal {
template <template <class> class Of>
struct LapColumns {
  Of<StringId> name = kRequired<Of>;
  Of<int64_t> dur_ns = kUnset;
  static constexpr AboutTable kAbout{"lap", "Laps"};
  static constexpr ColumnList kColumns{
      TraceKey(), ShownColumn<&LapColumns::name>("", "who"), ShownColumn<&LapColumns::dur_ns>("ns", "how long"),
  };
};
size_t Count(const TableFor<LapColumns>& laps) {
  size_t columns = 0;
  TableFor<LapColumns>::Visit(laps, [&](std::string_view, const auto&) { ++columns; });
  return columns;
}
}  // namespace gapless::internal
"""

SQL = """\
#include "query/cells.h"

namespace gapless::internal {
SqlValue Pid(const SqlRow&) { return {}; }
constexpr ComputedCell kCells[] = {{"pid", Pid}};
SQL_TABLE(gpu_op) = kStored<&Trace::gpu_ops, &IdBase::gpu_op, kCells>;
}  // namespace gapless::internal
"""

VERB = """\
#include "cli/command.h"

namespace gapless::internal {
namespace {
enum class Shell : uint8_t { kBash, kFish };
constexpr Choosable<Shell> kShells[] = {{"bash", Shell::kBash}, {"fish", Shell::kFish}};
struct OtherArguments : Arguments {
  bool quiet = false;
};
struct LapArguments : Arguments {
  std::optional<std::string> output{};
  int64_t laps = 3;
  Shell shell{};
  static constexpr OptionList kOptions{
      Text<&LapArguments::output>("FILE", "Write to FILE").Short('o'),
      Number<&LapArguments::laps>("N", "Run N laps (3)", 1),
      Choice<&LapArguments::shell, OneOf<kShells>>("NAME", "For this shell"),
  };
};
Result<int> Execute(const LapArguments& arguments, Session&) {
  return static_cast<int>(arguments.laps);
}
constexpr Example kExamples[] = {{"gapless lap", "Runs a lap"}};
}  // namespace
COMMAND(lap) = {
    .name = "lap", .place = {groups::kMore, 9}, .help = "", .about = "", .examples = kExamples, .call = kCall<Execute>};
}  // namespace gapless::internal
"""

CHANGES = {
    "an option has no member": Change(
        VERB, "Text<&LapArguments::output>", "Text<&LapArguments::outputs>", "LapArguments"
    ),
    "the body of a verb misspells an option": Change(VERB, "arguments.laps)", "arguments.lap)", "no member named .lap"),
    "an option is of another verb": Change(VERB, "&LapArguments::output", "&OtherArguments::quiet", "OtherArguments"),
    "a text is read into a number": Change(VERB, "Text<&LapArguments::output>", "Text<&LapArguments::laps>", "Put"),
    "a number is read into a text": Change(
        VERB,
        'Number<&LapArguments::laps>("N", "Run N laps (3)", 1)',
        'Number<&LapArguments::output>("N", "", 1)',
        "constraint",
    ),
    "a choice is of another type": Change(VERB, "Choice<&LapArguments::shell", "Choice<&LapArguments::output", "Shell"),
    "a verb is of no group": Change(VERB, ".place = {groups::kMore, 9}, ", "", "Place::group|reference member"),
    "an option stands among the words": Change(VERB, "OptionList kOptions", "WordList kWords", "OptionSpec"),
    "a reader leaves out a required column": Change(ROWS, ".ts_ns = 1, ", "", "RequiredType"),
    "a reader misspells a column": Change(ROWS, ".graph_node_id = 3", ".graph_node = 3", "graph_node"),
    "a use misspells a column": Change(ROWS, "gpu_ops.graph_node_id", "gpu_ops.graph_nodes_id", "graph_nodes_id"),
    "a reader gives what is derived": Change(
        ROWS, ".graph_node_id = 3", ".launch = SliceId(3)", "NothingHere|no elements"
    ),
    "a column is not in the list": Change(
        TABLE, ', ShownColumn<&LapColumns::dur_ns>("ns", "how long")', "", "kColumns names every member once"
    ),
    "a column is twice in the list": Change(
        TABLE,
        '<&LapColumns::dur_ns>("ns", "how long")',
        '<&LapColumns::name>("", "whose")',
        "kColumns names every member once",
    ),
    "the list misspells a column": Change(
        TABLE, "ShownColumn<&LapColumns::dur_ns>", "ShownColumn<&LapColumns::dur>", "LapColumns"
    ),
    "a computed column has no cell": Change(
        SQL, "&IdBase::gpu_op, kCells>", "&IdBase::gpu_op>", "a computed column has no cell"
    ),
    "a cell has no column": Change(
        SQL, '{"pid", Pid}', '{"pid", Pid}, {"pids", Pid}', "the list has no computed column of this name"
    ),
    "a table that needs ids has none": Change(SQL, "&IdBase::gpu_op, ", "nullptr, ", "a computed column has no cell"),
}


HEADERS = sorted(set(re.findall(r"(?m)^#include .+$", CELLS + "".join(change.source for change in CHANGES.values()))))


class MustNotCompile(unittest.TestCase):
    # The headers are compiled once: they take nearly all of the time of each source.
    folder = tempfile.TemporaryDirectory()

    @functools.cached_property
    def command(self) -> list[str]:
        command = [COMPILER, "-std=c++20", f"-I{ROOT}/src", f"-I{ROOT}/include"]
        header = Path(self.folder.name) / "headers.h"
        if not header.exists():
            header.write_text("\n".join(HEADERS) + "\n")
            subprocess.run([*command, "-xc++-header", str(header), "-o", f"{header}.gch"], check=True)
        return [*command, "-Winvalid-pch", "-include", str(header), "-fsyntax-only", "-xc++", "-"]

    def errors(self, begin: str, frame: str, end: str, lines: list[str]) -> dict[str, str]:
        """The compiler's words about the lines that do not compile, each in a function of its own."""
        text = "".join(frame.format(number=number, line=line) + "\n" for number, line in enumerate(lines))
        done = subprocess.run(self.command, input=begin + text + end, check=False, capture_output=True, text=True)
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

    def compiled(self, source: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command, input=source, check=False, capture_output=True, text=True)

    def test_columns_of_a_trace(self) -> None:
        for source in {change.source for change in CHANGES.values()}:
            self.assertEqual(self.compiled(source).stderr, "")
        for name, change in CHANGES.items():
            with self.subTest(name):
                self.assertEqual(change.source.count(change.good), 1, "the change must change its source")
                done = self.compiled(change.source.replace(change.good, change.bad))
                self.assertNotEqual(done.returncode, 0, "it compiles")
                self.assertRegex(done.stderr, change.said)


if __name__ == "__main__":
    unittest.main()
