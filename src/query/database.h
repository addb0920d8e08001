// SPDX-License-Identifier: Apache-2.0
// SQL over a run: its tables and all analyses, read in place, never written.
//
// The tables are SQLite virtual tables over the columns of the traces: nothing is copied or indexed. A query by id, by
// trace, by rank or by a range of ts_ns reads only the rows concerned. An analysis runs when a query first reads its
// table.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/result.h"
#include "query/sql_table.h"
#include "trace/run.h"

namespace gapless::internal {

// Takes the rows of one result.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Called once, before the first row, also for an empty result.
  virtual void Columns(std::span<const std::string> names) = 0;
  // Called after it: of each column what its table says of it, if it is one as recorded and not computed.
  virtual void Origins(std::span<const std::optional<ColumnSpec>> /*origins*/) {}
  // The cells are good until the call returns. False ends the query: nobody reads the rest.
  virtual bool Row(std::span<const SqlValue> cells) = 0;
};

// The entries of `gapless query --tables`.
// Describes one table; texts are constants of the program.
struct SqlTableInfo {
  std::string_view name;
  std::string_view help;
  bool is_analysis = false;
  std::vector<ColumnSpec> columns;
};
// Returns the recorded tables by name, then the analyses by name. The "all_" variants are not listed.
std::vector<SqlTableInfo> DescribeSqlTables();

// From now on SQLite takes at most `bytes` in this process, for all queries together; a query that needs more ends with
// std::bad_alloc.
void LimitQueryMemory(int64_t bytes);

// One connection to the tables of a run. Used by one thread at a time; several databases over the same run may be used
// at once.
class Database {
 public:
  // The run and the tables must outlive the database. `cancel`, when it becomes true, ends a running query.
  static Result<Database> Open(const Run& run, Tables& tables, const std::atomic<bool>* cancel = nullptr);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // For statements of people elsewhere: none builds a text above `text_bytes`, nothing is put into files, and the
  // cancel flag is looked at a hundred times as often. Functions of texts cannot be ended, so texts bound how long one
  // takes.
  void Bound(int text_bytes);

  // Runs one statement that reads. Faults of the statement are usage errors; the hint names the tables or columns there
  // are.
  Result<void> Query(std::string_view sql, RowSink& sink);

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapless::internal
