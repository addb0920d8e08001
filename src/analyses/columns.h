// SPDX-License-Identifier: Apache-2.0
// Begins the tables of analyses and their rows, and computes shares and percentiles for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "analyses/timeline.h"
#include "analyses/typed_rows.h"
#include "trace/table.h"

namespace gapless::internal {

inline Table EmptyTable(std::string_view name, std::span<const ColumnSpec> columns) {
  return Table(name, std::vector<ColumnSpec>(columns.begin(), columns.end()));
}

// The same of an analysis that declares its columns for readers, too.
template <class R>
Table EmptyTable() {
  return EmptyTable(R::kName, R::kColumns);
}

inline Table::RowWriter BeginRow(Table& table, const RunTrace& of) {
  auto row = table.Row();
  row.Int(of.index).Int(of.rank());
  return row;
}

inline double ShareOf(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::numeric_limits<double>::quiet_NaN();
}

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
