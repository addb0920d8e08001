// SPDX-License-Identifier: Apache-2.0
// Groups the rows of a table that describe the same thing on several ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyses/typed_rows.h"
#include "trace/table.h"

namespace gapless::internal {

struct RowGroup {
  std::vector<size_t> rows;  // largest value first; never empty
  int64_t value = 0;         // sum over the rows

  size_t first() const { return rows[0]; }
};

// Groups rows whose `key` columns read the same, the largest sums first. Rows whose value is not above zero are left
// out.
std::vector<RowGroup> GroupRows(const Table& table, const std::vector<int>& key,
                                const std::function<int64_t(size_t row)>& value);
template <class R>
std::vector<RowGroup> GroupRows(const TypedRows<R>& rows, std::span<const typename TypedRows<R>::TextColumn> key,
                                const std::function<int64_t(size_t row)>& value) {
  std::vector<int> columns;
  for (const auto column : key) columns.push_back(column.index());
  return GroupRows(rows.table(), columns, value);
}

int64_t SumOver(const Table& table, const RowGroup& group, int column);
template <class R>
int64_t SumOver(const TypedRows<R>& rows, const RowGroup& group, typename TypedRows<R>::IntColumn column) {
  return SumOver(rows.table(), group, column.index());
}

// Returns the largest value of a column; 0 if all are Null.
double MostOver(const Table& table, const RowGroup& group, int column);
template <class R>
double MostOver(const TypedRows<R>& rows, const RowGroup& group, typename TypedRows<R>::RealColumn column) {
  return MostOver(rows.table(), group, column.index());
}

// "2.0 times a step" from the column of calls per step, or "24 times" from that of calls where there are no steps.
std::string HowOften(const Table& table, const RowGroup& group, int per_step, int calls);
template <class R>
std::string HowOften(const TypedRows<R>& rows, const RowGroup& group, typename TypedRows<R>::RealColumn per_step,
                     typename TypedRows<R>::IntColumn calls) {
  return HowOften(rows.table(), group, per_step.index(), calls.index());
}

}  // namespace gapless::internal
