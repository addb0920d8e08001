// SPDX-License-Identifier: Apache-2.0
// A table of `gapless query`, described as data: its columns and how to read a cell from a trace. No cell is copied.
//
// To add one: write src/query/tables/<name>.cc and end it with
//   SQL_TABLE(<name>) = kStored<&Trace::<table>>;     the table that traces store (query/cells.h), or
//   SQL_TABLE(<name>) = {.name = "<name>", .help = "…", .columns = kColumns, .rows = …};
// It is then queried as <name> (primary rows of execution 0) and all_<name> (every row), and has its page in the
// reference. Scripts rely on the columns: add at the end, never change or drop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "query/stored_values.h"
#include "trace/run.h"
#include "trace/table.h"

namespace gapless::internal {

// One cell on its way to SQLite or from it. A text lives as long as the run, or, in a result, as long as the row is
// shown.
struct SqlValue {
  enum class Kind : uint8_t { kNull, kInt, kReal, kText };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view text;

  static SqlValue Null() { return {}; }
  static SqlValue Int(int64_t value);           // kAbsent becomes Null
  static SqlValue Real(double value);           // NaN becomes Null
  static SqlValue Text(std::string_view text);  // "" becomes Null
};

// A SqlRow is where a cell is.
struct SqlRow {
  const Run* run = nullptr;
  const RunTrace* trace = nullptr;
  size_t row = 0;
};

// A column: its description, and the function that reads its cell. `get` is called for rows below SqlTable::rows only.
// `stored` returns where the values of a trace lie; nullptr: its cells are computed.
struct SqlColumn {
  std::string_view name;
  ColumnType type = ColumnType::kInt;
  std::string_view unit;  // as ColumnSpec::unit
  std::string_view help;  // one line
  SqlValue (*get)(const SqlRow& at) = nullptr;
  StoredValues (*stored)(const RunTrace& trace) = nullptr;
};

// A table over traces. Its rows are those of one trace after those of another, in the order of the run. It holds
// nothing itself: what must be computed or grouped is an analysis, which is a table, too.
struct SqlTable {
  std::string_view name;  // equals the file name
  std::string_view help;  // one line of at most 100 characters
  std::span<const SqlColumn> columns;
  // Number of rows that one trace has.
  size_t (*rows)(const Trace& trace) = nullptr;
  // First id of a trace's rows; nullptr: the rows have no id.
  int64_t (*first_id)(const IdBase& base) = nullptr;
  // The column that rows are sorted by within a trace, shown shifted to run time as `ts_ns`; nullptr: not sorted by
  // time.
  const Column<int64_t>& (*ts)(const Trace& trace) = nullptr;
};

// Returns how many rows of a trace the table shows. Of a summary (trace/summary.h) the rows that only stand for others
// are not shown: what is not there is not made up.
size_t ShownRows(const SqlTable& table, const Trace& trace);

#define SQL_TABLE(n)                  \
  extern const SqlTable n##_sqltable; \
  constinit const SqlTable n##_sqltable

std::span<const SqlTable* const> AllSqlTables();  // sorted by name; generated from the folder

}  // namespace gapless::internal
