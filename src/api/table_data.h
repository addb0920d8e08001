// SPDX-License-Identifier: Apache-2.0
// The data behind a public Table, which produces its cells. It is made once, then read from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "gapless/table.h"
#include "query/database.h"
#include "query/stored_values.h"

namespace gapless::internal {

struct RunState;

// Rows and columns of one table. Subclasses read cells in place (find_table.cc) or hold them (query_result.cc).
class TableData {
 public:
  TableData() = default;
  TableData(const TableData&) = delete;
  TableData& operator=(const TableData&) = delete;
  virtual ~TableData() = default;

  static gapless::Table AsTable(std::shared_ptr<const TableData> data) { return gapless::Table(std::move(data)); }
  // Returns what is behind a table; null behind one that is empty.
  static std::shared_ptr<const TableData> Of(const gapless::Table& table) { return table.data_; }

  virtual Cell At(size_t row, size_t column) const = 0;  // within the table

  // The rows of one recording, one after the other. Together they are the table.
  struct Stretch {
    size_t first = 0, rows = 0;
  };
  virtual std::vector<Stretch> Stretches() const { return {{0, rows}}; }
  // Returns where the values of a column lie in a stretch, by its index; without a value: At() computes its cells.
  virtual StoredValues Stored(size_t /*stretch*/, size_t /*column*/) const { return {}; }

  std::string name;
  std::vector<gapless::Column> columns;
  // Fixed before the table is published; At() is only called below it.
  size_t rows = 0;
};

using TableDataPtr = std::shared_ptr<const TableData>;

// Returns a recorded table, "all_" of one, or an analysis; it keeps the state alive. An analysis is computed now. A
// usage error for other names.
Result<TableDataPtr> FindTable(const std::shared_ptr<const RunState>& state, std::string_view name);

// Runs a statement and holds its whole result, which needs the run no longer. An error names the place in the
// statement.
Result<TableDataPtr> RunQuery(const RunState& state, std::string_view sql);

// Translates a cell of SQL; a text still points where `value` pointed.
Cell CellOf(const SqlValue& value);

// Returns the columns of any description with name, type, unit and help.
template <class Specs>
std::vector<gapless::Column> ColumnsOf(const Specs& specs) {
  std::vector<gapless::Column> columns;
  for (const auto& spec : specs)
    columns.push_back({std::string(spec.name), spec.type, std::string(spec.unit), std::string(spec.help)});
  return columns;
}

}  // namespace gapless::internal
