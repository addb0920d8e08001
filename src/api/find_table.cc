// SPDX-License-Identifier: Apache-2.0
// Finds recorded tables and analyses by name, in one name space, and reads their cells in place.
//
// A recorded table is the concatenation of the rows of several traces. Nothing is copied: a cell is located by a binary
// search over the traces, O(log traces), then read by the table's own accessor. Memory is one entry per trace. "all_"
// before the name of a recorded table adds the traces that the plain name leaves out (supplementary recordings, other
// executions); analyses have no such variant.
#include <algorithm>

#include "api/run_state.h"
#include "api/table_data.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "query/sql_table.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kAll = "all_";

// A table of events over the traces of a run. It keeps the run alive, because its texts point into the traces.
class RecordedTable : public TableData {
 public:
  RecordedTable(std::shared_ptr<const RunState> state, const SqlTable& table, bool every_row)
      : state_(std::move(state)), table_(table) {
    name = StrCat(every_row ? kAll : "", table.name);
    columns = ColumnsOf(table.columns);
    if (every_row)
      for (const RunTrace& trace : state_->analysis.run().traces()) Add(trace);
    else
      for (const RunTrace* trace : state_->analysis.run().primary()) Add(*trace);
  }

  Cell At(size_t row, size_t column) const override {
    // Parts are ascending by `end`, and empty traces have no part, so the first part whose end is after `row` holds it.
    const auto part = std::upper_bound(parts_.begin(), parts_.end(), row,
                                       [](size_t wanted, const Part& part) { return wanted < part.end; });
    return CellOf(table_.columns[column].get({&state_->analysis.run(), part->trace, row - part->first}));
  }

  std::vector<Stretch> Stretches() const override {
    std::vector<Stretch> all;
    for (const Part& part : parts_) all.push_back({part.first, part.end - part.first});
    return all;
  }
  StoredValues Stored(size_t stretch, size_t column) const override {
    const auto stored = table_.columns[column].stored;
    return stored == nullptr ? StoredValues() : stored(*parts_[stretch].trace);
  }

 private:
  struct Part {
    // Trace with at least one row of the table.
    const RunTrace* trace;
    size_t first, end;  // rows of the whole
  };
  void Add(const RunTrace& trace) {
    const size_t count = ShownRows(table_, *trace.trace);
    if (count == 0) return;
    parts_.push_back({&trace, rows, rows + count});
    rows += count;
  }

  std::shared_ptr<const RunState> state_;
  const SqlTable& table_;
  std::vector<Part> parts_;
};

// The result of an analysis. The table itself belongs to the run, which this object keeps alive.
class AnalysisTable : public TableData {
 public:
  AnalysisTable(std::shared_ptr<const RunState> state, const Table& table) : state_(std::move(state)), table_(table) {
    name = table.name();
    columns = ColumnsOf(table.columns());
    rows = table.rows();
  }

  Cell At(size_t row, size_t column) const override {
    const int at = static_cast<int>(column);
    if (table_.IsNull(row, at)) return {};
    switch (columns[column].type) {
      case ColumnType::kInt: return Cell(table_.Int(row, at));
      case ColumnType::kReal: return Cell(table_.Real(row, at));
      case ColumnType::kText: break;
    }
    return Cell(table_.Text(row, at));
  }

 private:
  std::shared_ptr<const RunState> state_;
  const Table& table_;  // table of state_
};

// Returns the error for an unknown table, with the nearest name as a hint.
Unexpected NoTable(std::string_view name) {
  const std::vector<SqlTableInfo> tables = DescribeSqlTables();
  std::vector<std::string_view> names;
  for (const SqlTableInfo& table : tables) names.push_back(table.name);
  const std::string_view nearest = Nearest(name, names);
  return Fail(ErrorCode::kUsage, StrCat("there is no table '", Printable(name), "'"), "",
              nearest.empty() ? "Run::Tables() lists the tables" : StrCat("did you mean ", nearest, "?"));
}

}  // namespace

Cell CellOf(const SqlValue& value) {
  switch (value.kind) {
    case SqlValue::Kind::kNull: return {};
    case SqlValue::Kind::kInt: return Cell(value.integer);
    case SqlValue::Kind::kReal: return Cell(value.real);
    case SqlValue::Kind::kText: break;
  }
  return Cell(value.text);
}

Result<TableDataPtr> FindTable(const std::shared_ptr<const RunState>& state, std::string_view name) {
  const bool every_row = name.starts_with(kAll);
  const std::string_view recorded = every_row ? name.substr(kAll.size()) : name;
  // The tables of `gapless query` first, then the analyses, as Run::Tables() lists them.
  for (const SqlTable* table : AllSqlTables())
    if (table->name == recorded) return TableDataPtr(std::make_shared<RecordedTable>(state, *table, every_row));
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->name != name) continue;
    // Get() returns an empty table if the analysis failed; the reason stands beside it.
    const Table& table = state->analysis.tables().Get(name);
    if (const Error* error = state->analysis.tables().ErrorOf(name)) return Unexpected{*error};
    return TableDataPtr(std::make_shared<AnalysisTable>(state, table));
  }
  return NoTable(name);
}

}  // namespace gapless::internal
