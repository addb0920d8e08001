// SPDX-License-Identifier: Apache-2.0
// Groups rows by the texts of key columns, and sorts the groups by their summed value.
#include "diagnose/row_groups.h"

#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "diagnose/evidence.h"

namespace gapless::internal {

std::vector<RowGroup> GroupRows(const Table& table, const std::vector<int>& key,
                                const std::function<int64_t(size_t row)>& value) {
  std::unordered_map<std::string, size_t> at;
  std::vector<std::vector<std::pair<int64_t, size_t>>> members;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t of = value(row);
    if (of <= 0) continue;
    std::string text;
    for (const int column : key) text += StrCat(table.Text(row, column), '\n');
    const auto [found, is_new] = at.try_emplace(std::move(text), members.size());
    if (is_new) members.emplace_back();
    members[found->second].emplace_back(-of, row);
  }
  std::vector<RowGroup> groups;
  for (auto& rows : members) {
    std::sort(rows.begin(), rows.end());
    RowGroup& group = groups.emplace_back();
    for (const auto& [minus, row] : rows) group.value -= minus, group.rows.push_back(row);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const RowGroup& a, const RowGroup& b) { return a.value > b.value; });
  return groups;
}

int64_t SumOver(const Table& table, const RowGroup& group, int column) {
  int64_t sum = 0;
  for (const size_t row : group.rows) sum += table.Int(row, column);
  return sum;
}

double MostOver(const Table& table, const RowGroup& group, int column) {
  double most = 0;
  for (const size_t row : group.rows)
    if (!table.IsNull(row, column)) most = std::max(most, table.Real(row, column));
  return most;
}

std::string HowOften(const Table& table, const RowGroup& group, int per_step, int calls) {
  const double often = MostOver(table, group, per_step);
  return often > 0 ? TimesAStep(often) : FormatTimes(static_cast<double>(SumOver(table, group, calls)));
}

}  // namespace gapless::internal
