// SPDX-License-Identifier: Apache-2.0
// Cuts lists by their largest values, and pictures by whole ranks, so that what is drawn of a rank is all of it.
#include "report/page_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "analyses/rank_summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxPageRows = 250, kMaxRowsOfPictures = 8000, kMaxRowsOfManyRanks = 800;
constexpr std::string_view kPictures[] = {"ledger", "steps", "memory_curve", "ranks"};
constexpr std::string_view kHowMuch[] = {"dur_ns",        "total_ns",      "device_total_ns", "device_ns",
                                         "wait_ns",       "idle_ns",       "transfer_ns",     "host_ns",
                                         "host_total_ns", "call_total_ns", "allocated_bytes", "wall_ns"};

// Returns the rows of as many recordings as fit, at least of one.
std::vector<size_t> RowsOfFurthest(const Table& table, const RanksRows& ranks, size_t most) {
  std::map<int64_t, std::vector<size_t>> by_trace;
  const int trace_column = table.Find("trace");
  for (size_t row = 0; row < table.rows(); ++row) by_trace[table.Int(row, trace_column)].push_back(row);
  const std::map<int64_t, double> distances = DistancesFromMedian(ranks);
  std::vector<std::pair<double, int64_t>> order;
  for (const auto& [trace, rows] : by_trace) {
    const auto distance = distances.find(trace);
    order.emplace_back(distance == distances.end() ? 0 : -distance->second, trace);
  }
  std::ranges::sort(order);
  std::vector<size_t> shown;
  for (const auto& [distance, trace] : order) {
    const std::vector<size_t>& rows = by_trace[trace];
    if (!shown.empty() && shown.size() + rows.size() > most) break;
    shown.insert(shown.end(), rows.begin(), rows.end());
  }
  if (shown.size() > most) shown.resize(most);
  std::ranges::sort(shown);
  return shown;
}

}  // namespace

int SortColumn(const Table& table) {
  for (const std::string_view name : kHowMuch) {
    const int column = table.Find(name);
    for (size_t row = 0; column >= 0 && row < table.rows(); ++row)
      if (!table.IsNull(row, column) && table.Real(row, column) > 0) return column;
  }
  return -1;
}

std::vector<size_t> RowsToShow(const Table& table, const RanksRows& ranks) {
  const bool picture = std::ranges::find(kPictures, table.name()) != std::end(kPictures);
  const size_t of_picture = ranks.rows() >= kManyRanks ? kMaxRowsOfManyRanks : kMaxRowsOfPictures;
  const size_t most = picture ? of_picture : kMaxPageRows;
  std::vector<size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  if (rows.size() <= most) return rows;
  if (picture && table.Find("trace") >= 0) return RowsOfFurthest(table, ranks, most);
  if (const int column = SortColumn(table); !picture && column >= 0) {
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(most);
    std::ranges::nth_element(rows, middle, [&](size_t a, size_t b) {
      const double x = table.IsNull(a, column) ? -1 : table.Real(a, column);
      const double y = table.IsNull(b, column) ? -1 : table.Real(b, column);
      return x != y ? x > y : a < b;
    });
  }
  rows.resize(most);
  std::ranges::sort(rows);
  return rows;
}

}  // namespace gapless::internal
