// SPDX-License-Identifier: Apache-2.0
// Typed views of the tables of analyses. A column is named by its text; the compiler looks the text up.
//
// An analysis declares its table once: in analyses/rows/<name>.h if other code reads it, else in its own file.
//
//   struct LaunchesRows : TypedRows<LaunchesRows> {
//     static constexpr std::string_view kName = "launches";
//     static constexpr std::string_view kHelp = "Launches per device: cost on the host, delay, queueing";
//     static constexpr ColumnSpec kColumns[] = {kTraceColumn, {"calls", kInt, "", "host calls that launched work"}};
//   };
//
// The analysis fills it with TableOf<LaunchesRows> (columns.h), and a reader takes the view from Tables:
//
//   const auto launches = tables.Get<LaunchesRows>();
//   launches.Int(row, "calls");   // column 1, known at compile time
//   launches.Int(row, "call");    // does not compile: the table has no such column
//   launches.Text(row, "calls");  // does not compile: the column is not a text
//
// The alternative is a struct with one member per column. It copies all columns of a row although a reader takes two or
// three of twenty, and needs an optional per member for Null; its members and their descriptions would be two lists,
// and columns such as `operator` and `class` could not have their names. A view costs one pointer, and leaves tables
// columnar for SQL, JSON and the bindings, which walk the columns of any table and still ask for tables by name.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "trace/table.h"

namespace gapless::internal {

inline constexpr ColumnType kInt = ColumnType::kInt;
inline constexpr ColumnType kReal = ColumnType::kReal;
inline constexpr ColumnType kText = ColumnType::kText;

inline constexpr ColumnSpec kTraceColumn{"trace", kInt, "", "the recording: key of table trace"};
inline constexpr ColumnSpec kRankColumn{"rank", kInt, "", "rank of the process; NULL: none recorded"};
inline constexpr ColumnSpec kDeviceColumn{"device", kInt, "", "device number"};

// A set of column types, one bit per type.
using ColumnTypes = unsigned;
consteval ColumnTypes BitOf(ColumnType type) { return 1U << static_cast<unsigned>(type); }

// Returns the index of the column called `name` if it has one of `types`; otherwise the caller does not compile.
consteval int IndexOfColumn(std::span<const ColumnSpec> columns, std::string_view name, ColumnTypes types) {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name && (BitOf(columns[i].type) & types) != 0) return static_cast<int>(i);
  throw "the table has no column of this name and type";
}

// A column of the table that `R` describes, of one of the types in `kTypes`. Made from the column's name, at compile
// time only.
template <class R, ColumnTypes kTypes>
class ColumnOf {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): readers write the name of the column
  consteval ColumnOf(const char* name) : index_(IndexOfColumn(R::kColumns, name, kTypes)) {}
  // A column that may have fewer types.
  template <ColumnTypes kFewer>
    requires((kFewer & ~kTypes) == 0 && kFewer != kTypes)
  // NOLINTNEXTLINE(google-explicit-constructor): an integer column is read wherever a number is
  constexpr ColumnOf(ColumnOf<R, kFewer> column) : index_(column.index()) {}

  constexpr int index() const { return index_; }
  constexpr std::string_view name() const { return R::kColumns[index_].name; }
  friend constexpr bool operator==(ColumnOf, ColumnOf) = default;

 private:
  int index_;
};

// The rows of the table of one analysis. The table must outlive the view.
template <class R>
class TypedRows {
 public:
  using IntColumn = ColumnOf<R, BitOf(kInt)>;
  using RealColumn = ColumnOf<R, BitOf(kInt) | BitOf(kReal)>;  // integers are read as reals, too
  using TextColumn = ColumnOf<R, BitOf(kText)>;
  using AnyColumn = ColumnOf<R, BitOf(kInt) | BitOf(kReal) | BitOf(kText)>;

  // NOLINTNEXTLINE(google-explicit-constructor): R has no constructors of its own, and is made of a table
  TypedRows(const Table& table) : table_(&table) { assert(table.columns().size() == std::size(R::kColumns)); }

  const Table& table() const { return *table_; }
  size_t rows() const { return table_->rows(); }
  bool IsNull(size_t row, AnyColumn column) const { return table_->IsNull(row, column.index()); }
  int64_t Int(size_t row, IntColumn column) const { return table_->Int(row, column.index()); }    // 0 when Null
  double Real(size_t row, RealColumn column) const { return table_->Real(row, column.index()); }  // NaN when Null
  std::string_view Text(size_t row, TextColumn column) const {
    return table_->Text(row, column.index());
  }  // "" when Null

 private:
  const Table* table_;
};

// The rows of a table by their recording, in order. Code that needs the rows of one recording after the other asks this
// once: to go through the table for each recording would take the square of their number.
class RowsByTrace {
 public:
  template <class R>
  explicit RowsByTrace(const TypedRows<R>& of) {
    for (size_t row = 0; row < of.rows(); ++row) {
      const auto trace = static_cast<size_t>(of.Int(row, "trace"));
      if (rows_.size() <= trace) rows_.resize(trace + 1);
      rows_[trace].push_back(row);
    }
  }
  // `trace`: the recording's index in the run; one without rows has none.
  std::span<const size_t> Of(int64_t trace) const {
    const auto at = static_cast<size_t>(trace);
    return at < rows_.size() ? std::span<const size_t>(rows_[at]) : std::span<const size_t>();
  }

 private:
  std::vector<std::vector<size_t>> rows_{};
};

}  // namespace gapless::internal
