// SPDX-License-Identifier: Apache-2.0
// Implements Table. A column's vector of present cells is made at its first Null.
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

void Table::AddRow() {
  FillLastRow();
  ++rows_;
  unset_ = cells_.size();
}

// Makes what the last row did not set Null, before the next one begins.
void Table::FillLastRow() {
  for (size_t i = 0; unset_ > 0 && i < cells_.size(); ++i) {
    if (cells_[i].size == rows_) continue;
    if (specs_[i].type == ColumnType::kReal)
      cells_[i].reals.push_back(0);
    else
      cells_[i].ints.Add(0);  // of a text: StringId::kNone
    Count(cells_[i], false);
  }
}

void Table::Reserve(size_t rows) {
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (specs_[i].type == ColumnType::kReal)
      cells_[i].reals.reserve(rows);
    else
      cells_[i].ints.Reserve(rows);
  }
}

Table::Cells* Table::Unset(int column, ColumnType type) {
  const auto at = static_cast<size_t>(column);  // below 0: beyond the last
  if (at >= cells_.size() || specs_[at].type != type || cells_[at].size == rows_) return nullptr;
  return &cells_[at];
}

void Table::Count(Cells& cells, bool present) {
  if (!present && cells.present.empty()) cells.present.assign(cells.size, true);
  if (!present || !cells.present.empty()) cells.present.push_back(present);
  ++cells.size;
  --unset_;
}

void Table::SetInt(int column, int64_t value) {
  if (value == kAbsent) return;
  Cells* cells = Unset(column, ColumnType::kInt);
  if (cells == nullptr) return SetReal(column, static_cast<double>(value));
  cells->ints.Add(value);
  Count(*cells, true);
}

void Table::SetReal(int column, double value) {
  Cells* cells = Unset(column, ColumnType::kReal);
  if (cells == nullptr || std::isnan(value)) return;
  cells->reals.push_back(value);
  Count(*cells, true);
}

void Table::SetText(int column, std::string_view value) {
  Cells* cells = Unset(column, ColumnType::kText);
  if (cells == nullptr || value.empty()) return;
  // Rows that follow each other often have the same text: comparing it costs less than looking it up.
  PackedInts& ids = cells->ints;
  const StringId last = ids.size() > 0 ? static_cast<StringId>(ids[ids.size() - 1]) : StringId::kNone;
  ids.Add(static_cast<int64_t>(texts_[last] == value ? last : texts_.Intern(value)));
  Count(*cells, true);
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
