// SPDX-License-Identifier: Apache-2.0
// Holds the whole result of a statement: 16 bytes per cell, each distinct text once.
//
// SQLite decides the type of each cell, not of a column. A column's type therefore starts as integer and grows to real
// and text as cells need it; each cell keeps its own kind, and a cell reads as what SQLite returned.
#include "api/run_state.h"
#include "api/table_data.h"
#include "trace/string_pool.h"

namespace gapless::internal {
namespace {

// Takes the rows while the query runs, and is only read afterwards.
class QueryResult : public TableData, public RowSink {
 public:
  void Columns(std::span<const std::string> names) override {
    for (const std::string& text : names) columns.push_back({.name = text});
  }

  // Never ends the query: the result is held to its last row, so its size is bounded by memory only.
  bool Row(std::span<const SqlValue> values) override {
    for (size_t i = 0; i < values.size(); ++i) Append(values[i], columns[i].type);
    ++rows;
    return true;
  }

  Cell At(size_t row, size_t column) const override {
    const Held& held = cells_[row * columns.size() + column];
    switch (held.kind) {
      case SqlValue::Kind::kNull: return {};
      case SqlValue::Kind::kInt: return Cell(held.integer);
      case SqlValue::Kind::kReal: return Cell(held.real);
      case SqlValue::Kind::kText: break;
    }
    return Cell(texts_[held.text]);
  }

 private:
  // One cell; `kind` says which member of the union is set, none for NULL.
  struct Held {
    SqlValue::Kind kind;
    union {
      int64_t integer;
      double real;
      StringId text;
    };
  };

  // Keeps the value; `type` grows to what fits it, too: integer, real, text.
  void Append(const SqlValue& value, ColumnType& type) {
    Held held{value.kind, {0}};
    if (value.kind == SqlValue::Kind::kInt) held.integer = value.integer;
    if (value.kind == SqlValue::Kind::kReal) {
      held.real = value.real;
      if (type == ColumnType::kInt) type = ColumnType::kReal;
    }
    if (value.kind == SqlValue::Kind::kText) {
      held.text = texts_.Intern(value.text);
      type = ColumnType::kText;
    }
    cells_.push_back(held);
  }

  std::vector<Held> cells_;  // row by row
  StringPool texts_;
};

}  // namespace

Result<TableDataPtr> RunQuery(const RunState& state, std::string_view sql) {
  auto result = std::make_shared<QueryResult>();
  GAPLESS_TRY(state.Query(sql, *result));
  return TableDataPtr(std::move(result));
}

}  // namespace gapless::internal
