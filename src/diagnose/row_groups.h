// SPDX-License-Identifier: Apache-2.0
// Groups the rows of a table that describe the same thing on several ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/table.h"

namespace gapless::internal {

struct RowGroup {
  std::vector<size_t> rows;  // largest value first; never empty
  int64_t value = 0;         // sum over the rows

  size_t first() const { return rows[0]; }
};

// Groups rows whose `key` columns read the same, the largest sums first. Rows whose value is not above zero are left
// out.
std::vector<RowGroup> GroupRows(const Table& table, std::span<const std::string_view> key,
                                const std::function<int64_t(size_t row)>& value);

int64_t SumOver(const Table& table, const RowGroup& group, std::string_view column);
// The largest value of a real column; 0 where all are Null.
double MostOver(const Table& table, const RowGroup& group, std::string_view column);

// "2.0 times a step" from the column of calls per step, or "24 times" from that of calls where there are no steps.
std::string HowOften(const Table& table, const RowGroup& group, std::string_view per_step, std::string_view calls);

}  // namespace gapless::internal
