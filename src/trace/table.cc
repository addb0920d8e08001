// SPDX-License-Identifier: Apache-2.0
// Implements Table. A column's vector of present cells is made at its first Null. A cell that does not fit its
// column becomes Null, so an analysis cannot shift its columns.
#include "trace/table.h"

#include <cmath>
#include <limits>

#include "trace/ids.h"

namespace gapless::internal {

Table::Table(std::string_view name, std::vector<ColumnSpec> specs)
    : name_(name), specs_(std::move(specs)), cells_(specs_.size()) {}

int Table::Find(std::string_view name) const {
  for (size_t i = 0; i < specs_.size(); ++i)
    if (specs_[i].name == name) return static_cast<int>(i);
  return -1;
}

Table::RowWriter Table::Row() {
  FillLastRow();
  ++rows_;
  return RowWriter(*this);
}

// Fills up a row that ended too early with Nulls, before the next row begins.
void Table::FillLastRow() {
  if (cells_.empty() || cells_.back().size == rows_) return;
  RowWriter writer(*this);
  while (writer.column_ < cells_.size() && cells_[writer.column_].size == rows_) ++writer.column_;
  while (writer.column_ < cells_.size()) writer.Null();
}

bool Table::Takes(size_t column, ColumnType type, ColumnType other) const {
  return column < specs_.size() && (specs_[column].type == type || specs_[column].type == other);
}

void Table::Reserve(size_t rows) {
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (specs_[i].type == ColumnType::kReal)
      cells_[i].reals.reserve(rows);
    else
      cells_[i].ints.Reserve(rows);
  }
}

void Table::Append(size_t column, bool present) {
  Cells& cells = cells_[column];
  if (!present && cells.present.empty()) cells.present.assign(cells.size, true);
  if (!present || !cells.present.empty()) cells.present.push_back(present);
  ++cells.size;
}

Table::RowWriter& Table::RowWriter::Int(int64_t value) {
  if (value == kAbsent || !table_.Takes(column_, ColumnType::kInt, ColumnType::kReal)) return Null();
  Cells& cells = table_.cells_[column_];
  if (table_.specs_[column_].type == ColumnType::kReal)
    cells.reals.push_back(static_cast<double>(value));
  else
    cells.ints.Add(value);
  table_.Append(column_++, true);
  return *this;
}

Table::RowWriter& Table::RowWriter::Real(double value) {
  if (std::isnan(value) || !table_.Takes(column_, ColumnType::kReal, ColumnType::kReal)) return Null();
  table_.cells_[column_].reals.push_back(value);
  table_.Append(column_++, true);
  return *this;
}

Table::RowWriter& Table::RowWriter::Text(std::string_view value) {
  if (!table_.Takes(column_, ColumnType::kText, ColumnType::kText)) return Null();
  // Rows that follow each other often have the same text: comparing it costs less than looking it up.
  PackedInts& ids = table_.cells_[column_].ints;
  const StringId last = ids.size() > 0 ? static_cast<StringId>(ids[ids.size() - 1]) : StringId::kNone;
  ids.Add(static_cast<int64_t>(table_.texts_[last] == value ? last : table_.texts_.Intern(value)));
  table_.Append(column_++, true);
  return *this;
}

Table::RowWriter& Table::RowWriter::TextOrNull(std::string_view value) { return value.empty() ? Null() : Text(value); }

Table::RowWriter& Table::RowWriter::Null() {
  if (column_ >= table_.cells_.size()) return *this;
  Cells& cells = table_.cells_[column_];
  switch (table_.specs_[column_].type) {
    case ColumnType::kInt: cells.ints.Add(0); break;
    case ColumnType::kReal: cells.reals.push_back(0); break;
    case ColumnType::kText: cells.ints.Add(static_cast<int64_t>(StringId::kNone)); break;
  }
  table_.Append(column_++, false);
  return *this;
}

bool Table::IsNull(size_t row, int column) const {
  if (column < 0 || static_cast<size_t>(column) >= cells_.size()) return true;
  const Cells& cells = cells_[static_cast<size_t>(column)];
  return row >= cells.size || (!cells.present.empty() && !cells.present[row]);
}

int64_t Table::Int(size_t row, int column) const {
  if (IsNull(row, column) || specs_[static_cast<size_t>(column)].type != ColumnType::kInt) return 0;
  return cells_[static_cast<size_t>(column)].ints[row];
}

double Table::Real(size_t row, int column) const {
  if (IsNull(row, column)) return std::numeric_limits<double>::quiet_NaN();
  const Cells& cells = cells_[static_cast<size_t>(column)];
  switch (specs_[static_cast<size_t>(column)].type) {
    case ColumnType::kInt: return static_cast<double>(cells.ints[row]);
    case ColumnType::kReal: return cells.reals[row];
    case ColumnType::kText: break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::string_view Table::Text(size_t row, int column) const {
  if (IsNull(row, column) || specs_[static_cast<size_t>(column)].type != ColumnType::kText) return {};
  return texts_[static_cast<StringId>(cells_[static_cast<size_t>(column)].ints[row])];
}

}  // namespace gapless::internal
