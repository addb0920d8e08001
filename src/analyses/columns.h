// SPDX-License-Identifier: Apache-2.0
// Fills the tables of analyses, cell by cell by the names of columns, and computes shares and percentiles for them.
//
//   TableOf<LaunchesRows> table;
//   auto row = table.Row(*timeline.of);  // sets its trace and rank
//   row.Set("calls", calls).Set("calls_per_step", ShareOf(calls, steps));
//   row.Set("call", calls);  // does not compile: the table has no such column
//   row.Set("calls", 0.5);   // does not compile: the column holds integers
//
// A cell that is not set is absent. So is one that is set to a value that means so: kAbsent, kAbsent32, NaN, the empty
// text, an optional without a value. The order of cells is free; each is set once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "analyses/timeline.h"
#include "analyses/typed_rows.h"
#include "trace/table.h"

namespace gapless::internal {

// The types of columns that take a value of type `T`; none: no column does.
template <class T>
inline constexpr ColumnTypes kColumnsFor = std::integral<T>         ? BitOf(kInt) | BitOf(kReal)
                                           : std::floating_point<T> ? BitOf(kReal)
                                           : std::convertible_to<const T&, std::string_view> ? BitOf(kText)
                                                                                             : 0;
template <class T>
inline constexpr ColumnTypes kColumnsFor<std::optional<T>> = kColumnsFor<T>;

// The table that `R` describes (typed_rows.h), while its analysis fills it.
template <class R>
class TableOf : public Table {
 public:
  // T is that of the value; newer compilers would ask it of the column, too.
  template <class T>
  using ColumnFor = std::type_identity_t<ColumnOf<R, kColumnsFor<T>>>;

  // The last row of the table.
  class RowWriter {
   public:
    template <class T>
    RowWriter& Set(ColumnFor<T> column, const T& value) {
      if constexpr (std::same_as<T, int32_t>)
        table_->SetInt(column.index(), value == kAbsent32 ? kAbsent : value);
      else if constexpr (std::integral<T>)
        table_->SetInt(column.index(), static_cast<int64_t>(value));
      else if constexpr (std::floating_point<T>)
        table_->SetReal(column.index(), value);
      else
        table_->SetText(column.index(), value);
      return *this;
    }
    template <class T>
    RowWriter& Set(ColumnFor<T> column, const std::optional<T>& value) {
      return value ? Set(column, *value) : *this;
    }
    // Sets a cell to each of an array's values, in their order.
    template <size_t kCount>
    RowWriter& SetEach(const ColumnFor<int64_t> (&columns)[kCount], const std::array<int64_t, kCount>& values) {
      for (size_t i = 0; i < kCount; ++i) Set(columns[i], values[i]);
      return *this;
    }
    template <size_t kCount>
    RowWriter& SetEach(const ColumnFor<double> (&columns)[kCount], const std::array<double, kCount>& values) {
      for (size_t i = 0; i < kCount; ++i) Set(columns[i], values[i]);
      return *this;
    }

   private:
    friend class TableOf;
    explicit RowWriter(TableOf& table) : table_(&table) {}
    TableOf* table_;
  };

  TableOf() : Table(R::kName, {std::begin(R::kColumns), std::end(R::kColumns)}) {}

  RowWriter Row() {
    AddRow();
    return RowWriter(*this);
  }
  RowWriter Row(const RunTrace& of) { return Row().Set("trace", of.index).Set("rank", of.rank()); }
};

inline double ShareOf(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::numeric_limits<double>::quiet_NaN();
}

// The mean, rounded down; kAbsent of none.
inline int64_t MeanOf(int64_t sum, int64_t count) { return count > 0 ? sum / count : kAbsent; }

// Percentile `p` (0–1) of `values`, linear between the two nearest, as numpy's default; kAbsent of none. Reorders them.
inline int64_t Percentile(std::span<int64_t> values, double p) {
  if (values.empty()) return kAbsent;
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), below, values.end());
  const double part = at - std::floor(at);
  if (part == 0 || below + 1 == values.end()) return *below;
  return *below + std::llround(part * static_cast<double>(*std::min_element(below + 1, values.end()) - *below));
}

}  // namespace gapless::internal
