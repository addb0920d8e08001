// SPDX-License-Identifier: Apache-2.0
// Implements the public Table and Row on top of internal::TableData. Cells outside the table are absent; Require()
// returns an error that suggests the nearest column name. A lookup by column name is linear in the number of columns,
// so a loop over many rows should find the index once.
#include "gapless/table.h"

#include <algorithm>

#include "api/table_data.h"
#include "base/strings.h"
#include "base/suggest.h"

namespace gapless {
namespace {

std::optional<size_t> IndexOf(const internal::TableData& data, std::string_view column) {
  for (size_t i = 0; i < data.columns.size(); ++i)
    if (data.columns[i].name == column) return i;
  return std::nullopt;
}

// Some rows of another table.
class Sliced : public internal::TableData {
 public:
  Sliced(std::shared_ptr<const TableData> of, size_t first, size_t count) : of_(std::move(of)), first_(first) {
    name = of_->name;
    columns = of_->columns;
    rows = count;
  }
  Cell At(size_t row, size_t column) const override { return of_->At(first_ + row, column); }

 private:
  std::shared_ptr<const TableData> of_;
  size_t first_;
};

}  // namespace

std::string_view Table::name() const { return data_ == nullptr ? std::string_view() : data_->name; }

const std::vector<Column>& Table::columns() const {
  static const std::vector<Column> kNone;
  return data_ == nullptr ? kNone : data_->columns;
}

size_t Table::rows() const { return data_ == nullptr ? 0 : data_->rows; }

std::optional<size_t> Table::Find(std::string_view column) const {
  return data_ == nullptr ? std::nullopt : IndexOf(*data_, column);
}

// The place of the error is the table's name; a result of a query has none.
Result<size_t> Table::Require(std::string_view column) const {
  if (const auto found = Find(column)) return *found;
  std::vector<std::string_view> names;
  for (const Column& column : columns()) names.push_back(column.name);
  const std::string_view nearest = internal::Nearest(column, names);
  std::string hint;
  if (!nearest.empty()) hint = internal::StrCat("did you mean ", nearest, "?");
  return internal::Fail(ErrorCode::kUsage, internal::StrCat("there is no column '", internal::Printable(column), "'"),
                        std::string(name()), std::move(hint));
}

Cell Table::At(size_t row, size_t column) const {
  return row < rows() && column < columns().size() ? data_->At(row, column) : Cell();
}

Table Table::Slice(size_t first, size_t rows) const {
  if (data_ == nullptr) return {};
  first = std::min(first, data_->rows);
  return Table(std::make_shared<Sliced>(data_, first, std::min(rows, data_->rows - first)));
}

Cell Table::At(size_t row, std::string_view column) const {
  const auto found = Find(column);
  return found ? At(row, *found) : Cell();
}

size_t Row::size() const { return data_->columns.size(); }

Cell Row::operator[](size_t column) const {
  return column < data_->columns.size() ? data_->At(index_, column) : Cell();
}

Cell Row::operator[](std::string_view column) const {
  const auto found = IndexOf(*data_, column);
  return found ? data_->At(index_, *found) : Cell();
}

}  // namespace gapless
