// SPDX-License-Identifier: Apache-2.0
// The two kinds of virtual tables. Private to query: besides database.cc, only the sources that include this header
// know SQLite.
#pragma once

#include <sqlite3.h>

#include <new>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "query/sql_table.h"

namespace gapless::internal {

// A table over the traces of a run: what a virtual table named `name` reads.
struct TraceSource {
  const SqlTable* table = nullptr;
  const Run* run = nullptr;
  std::vector<const RunTrace*> traces;  // in the order of the run, so row ids ascend
  size_t rows = 0;                      // rows of all traces
};

// A table that an analysis makes when it is first read.
struct AnalysisSource {
  const Analysis* analysis = nullptr;
  Tables* tables = nullptr;
};

// Modules to register with a pointer to a source, which must outlive the connection.
const sqlite3_module* TraceModule();
const sqlite3_module* AnalysisModule();

// A callback for SQLite, which is C: no exception may pass through it. Calls kCall and reports a lack of memory as
// SQLite does, so that the statement fails with SQLITE_NOMEM, which database.cc turns into the exception again.
template <auto kCall>
struct Guarded;
template <class... Arguments, int (*kCall)(Arguments...)>
struct Guarded<kCall> {
  static int Call(Arguments... arguments) {
    try {
      return kCall(arguments...);
    } catch (const std::bad_alloc&) {
      return SQLITE_NOMEM;
    }
  }
};

// Hands a cell to SQLite without copying its text.
void SetResult(sqlite3_context* context, const SqlValue& value);

// "CREATE TABLE x(…)" with the given columns, for sqlite3_declare_vtab. Column is anything with a name and a type.
template <class Columns>
std::string Declaration(const Columns& columns) {
  constexpr std::string_view kTypes[] = {"INTEGER", "REAL", "TEXT"};
  std::string sql = "CREATE TABLE x(";
  bool first = true;
  for (const auto& column : columns) {
    if (!first) sql += ", ";
    first = false;
    sql.append("\"").append(column.name).append("\" ").append(kTypes[static_cast<size_t>(column.type)]);
  }
  return sql + ")";
}

}  // namespace gapless::internal
