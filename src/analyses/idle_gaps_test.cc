// SPDX-License-Identifier: Apache-2.0
// The longest idle intervals are those of table idle, cell by cell.
#include "analyses/idle_gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kMain;

constexpr std::string_view kParts[] = {"data_ns", "launch_ns", "sync_ns", "host_ns", "unknown_ns"};

// A rank whose two devices wait for everything that there is to wait for, for random times.
std::shared_ptr<const Trace> RandomRank(int64_t rank, unsigned seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(1, most)(random); };
  HandMade trace;
  trace.Rank(rank);
  int64_t at = 0;
  for (int i = 0; i < 300; ++i) {
    const int64_t start = at, end = at + up_to(20) * 10 * kUs;
    switch (up_to(5)) {
      case 1: trace.Loader(start, end); break;
      case 2: trace.Call("cudaStreamSynchronize", ApiKind::kStreamSync, start, end); break;
      case 3: trace.Operator("aten::mm", start, end); break;
      case 4: trace.Python("train.py(3): work", start, end, "work() (train.py)"); break;
      default: break;
    }
    const GpuOpDraft op{.device = static_cast<int32_t>(up_to(2) - 1)};
    trace.Kernel("kernel", {end, end + kUs, end + up_to(200) * kUs, end + 200 * kUs + up_to(90) * kUs}, op, kMain);
    at = end + 2 * kUs + up_to(100) * kUs;
  }
  return trace.Finish();
}

// Returns the ids of the rows with the most of one part, the first of equals first.
std::vector<int64_t> Largest(const testing::TableByName& idle, std::string_view part) {
  std::vector<std::pair<int64_t, int64_t>> rows;
  for (size_t row = 0; row < idle.rows(); ++row)
    if (const int64_t ns = idle.Int(row, part); ns > 0) rows.emplace_back(-ns, idle.Int(row, "id"));
  std::sort(rows.begin(), rows.end());
  rows.resize(std::min(rows.size(), kLongestOfCause));
  std::vector<int64_t> ids;
  for (const auto& [ns, id] : rows) ids.push_back(id);
  return ids;
}

std::string TextOfCell(const Table& table, size_t row, int column) {
  if (table.IsNull(row, column)) return "NULL";
  return table.columns()[static_cast<size_t>(column)].type == ColumnType::kText
             ? std::string(table.Text(row, column))
             : std::to_string(table.Int(row, column));
}

TEST(LongestIdleRows, AreThoseOfTableIdle) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Analysed run({RandomRank(0, seed), RandomRank(1, seed + 100)});
    const Table& all = run.tables().Get("idle");
    const Table some = LongestIdleRows(run.tables());
    ASSERT_GT(all.rows(), 4 * kLongestOfCause);
    ASSERT_LT(some.rows(), all.rows());
    std::set<int64_t> named;
    for (const std::string_view part : kParts) {
      const std::vector<int64_t> ids = Largest(all, part);
      EXPECT_EQ(Largest(some, part), ids) << part << " of seed " << seed;
      named.insert(ids.begin(), ids.end());
    }
    ASSERT_EQ(some.rows(), named.size());
    auto id = named.begin();
    for (size_t row = 0; row < some.rows(); ++row, ++id)
      for (int column = 0; column < static_cast<int>(all.columns().size()); ++column)
        EXPECT_EQ(TextOfCell(some, row, column), TextOfCell(all, static_cast<size_t>(*id), column))
            << all.columns()[static_cast<size_t>(column)].name << " of row " << *id;
  }
}

TEST(LongestIdleRows, OfARunWithoutGpuAreNone) {
  HandMade trace;
  Analysed run(trace.Operator("aten::mm", 0, 10));
  EXPECT_EQ(LongestIdleRows(run.tables()).rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
