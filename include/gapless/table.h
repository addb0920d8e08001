// SPDX-License-Identifier: Apache-2.0
// Table: rows of typed cells with named columns: events as recorded, the result of an analysis, or of a query.
//
//   for (const gapless::Row row : table)
//     std::cout << row["name"].Text().value_or("?") << ' ' << row["dur_ns"].Int().value_or(0) << '\n';
//
// A table keeps alive what its cells are read from, whatever happens to the Run it came from. Copies are cheap and
// share. Nothing of it changes after it was made, so it can be read from several threads. Rows and texts are good while
// any copy of their table lives. A table that was moved from, or made by the default constructor, is empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gapless/column.h"
#include "gapless/export.h"
#include "gapless/result.h"

namespace gapless {

namespace internal {
class TableData;
}  // namespace internal

// One value. Absent is absent, never 0: what was not recorded has no value of any type.
class Cell {
 public:
  Cell() = default;
  explicit Cell(int64_t value) : value_(value) {}
  explicit Cell(double value) : value_(value) {}
  explicit Cell(std::string_view value) : value_(value) {}

  bool has_value() const { return value_.index() != 0; }
  // Absent also when the cell is of another type; Real() takes integers, too.
  std::optional<int64_t> Int() const {
    const auto* value = std::get_if<int64_t>(&value_);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  std::optional<double> Real() const {
    if (const auto* integer = std::get_if<int64_t>(&value_)) return static_cast<double>(*integer);
    const auto* value = std::get_if<double>(&value_);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  std::optional<std::string_view> Text() const {
    const auto* value = std::get_if<std::string_view>(&value_);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  friend bool operator==(const Cell&, const Cell&) = default;

 private:
  std::variant<std::monostate, int64_t, double, std::string_view> value_;
};

// One row of a table; cheap to copy.
class Row {
 public:
  size_t index() const { return index_; }
  GAPLESS_API size_t size() const;
  // Returns the cell; absent if the table has no such column (see Table::Find).
  GAPLESS_API Cell operator[](size_t column) const;
  GAPLESS_API Cell operator[](std::string_view column) const;

 private:
  friend class RowIterator;
  Row(const internal::TableData* data, size_t index) : data_(data), index_(index) {}
  const internal::TableData* data_;
  size_t index_;
};

// Iterates over the rows of a table, from the first to the last. Valid while any copy of its table lives.
class RowIterator {
 public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = Row;
  using difference_type = std::ptrdiff_t;
  using reference = Row;
  using pointer = void;

  RowIterator() = default;
  Row operator*() const { return Row(data_, index_); }
  RowIterator& operator++() {
    ++index_;
    return *this;
  }
  RowIterator operator++(int) {
    RowIterator before = *this;
    ++index_;
    return before;
  }
  friend bool operator==(const RowIterator&, const RowIterator&) = default;

 private:
  friend class Table;
  RowIterator(const internal::TableData* data, size_t index) : data_(data), index_(index) {}
  const internal::TableData* data_ = nullptr;
  size_t index_ = 0;
};

// A table of rows and columns; see the opening of this file. Cells are read when they are asked for.
class Table {
 public:
  Table() = default;

  // Returns the name; "" for the result of a query.
  GAPLESS_API std::string_view name() const;
  // The columns of a query have no unit and no help; their type is the narrowest that fits all cells with a value.
  GAPLESS_API const std::vector<Column>& columns() const;
  GAPLESS_API size_t rows() const;
  bool empty() const { return rows() == 0; }

  // Returns the index of the column. Absent, or an error that suggests the nearest name, if the table has no such
  // column.
  GAPLESS_API std::optional<size_t> Find(std::string_view column) const;
  GAPLESS_API Result<size_t> Require(std::string_view column) const;

  // Returns a cell, absent also outside the table. By name the column is looked up first, which is linear in their
  // number.
  GAPLESS_API Cell At(size_t row, size_t column) const;
  GAPLESS_API Cell At(size_t row, std::string_view column) const;

  // Returns a table of at most `rows` of these rows, from `first` on. Nothing is copied.
  GAPLESS_API Table Slice(size_t first, size_t rows) const;

  RowIterator begin() const { return {data_.get(), 0}; }
  RowIterator end() const { return {data_.get(), rows()}; }

 private:
  friend class internal::TableData;
  explicit Table(std::shared_ptr<const internal::TableData> data) : data_(std::move(data)) {}
  std::shared_ptr<const internal::TableData> data_;
};

}  // namespace gapless
