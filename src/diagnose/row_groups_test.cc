// SPDX-License-Identifier: Apache-2.0
// Tests grouping over ranks, and counts with and without steps.
#include "diagnose/row_groups.h"

#include <gtest/gtest.h>

#include "analyses/columns.h"

namespace gapless::internal {
namespace {

struct MadeRows : TypedRows<MadeRows> {
  static constexpr std::string_view kName = "made";
  static constexpr ColumnSpec kColumns[] = {{"rank", kInt, "", ""},
                                            {"name", kText, "", ""},
                                            {"time_ns", kInt, "ns", ""},
                                            {"calls", kInt, "", ""},
                                            {"calls_per_step", kReal, "", ""}};
};

constexpr MadeRows::TextColumn kKey[] = {"name"};

// Rows of rank, name, time, calls and calls per step (0: NULL).
Table Made(const std::vector<std::tuple<int64_t, std::string_view, int64_t, int64_t, double>>& rows) {
  TableOf<MadeRows> table;
  for (const auto& [rank, name, time, calls, per_step] : rows) {
    auto row = table.Row().Set("rank", rank).Set("name", name).Set("time_ns", time).Set("calls", calls);
    if (per_step > 0) row.Set("calls_per_step", per_step);
  }
  return table;
}

std::vector<RowGroup> ByTime(const MadeRows& table) {
  return GroupRows(table, kKey, [&](size_t row) { return table.Int(row, "time_ns"); });
}

TEST(RowGroups, TakeTheRowsOfAllRanksTogetherLargestFirst) {
  const Table made = Made({{0, "a", 40, 2, 1}, {0, "b", 50, 2, 1}, {1, "a", 60, 4, 2}, {1, "c", 0, 9, 9}});
  const MadeRows table{made};
  const std::vector<RowGroup> groups = ByTime(table);
  ASSERT_EQ(groups.size(), 2u) << "what takes no time is left out";
  EXPECT_EQ(groups[0].value, 100);
  EXPECT_EQ(groups[0].rows, (std::vector<size_t>{2, 0}));
  EXPECT_EQ(groups[0].first(), 2u);
  EXPECT_EQ(SumOver(table, groups[0], "calls"), 6);
  EXPECT_EQ(HowOften(table, groups[0], "calls_per_step", "calls"), "2 times a step");
  EXPECT_EQ(groups[1].value, 50);
}

TEST(RowGroups, WithoutStepsCallsAreCounted) {
  const Table made = Made({{0, "", 40, 2, 0}, {1, "", 60, 4, 0}});
  const MadeRows table{made};
  const std::vector<RowGroup> groups = ByTime(table);
  ASSERT_EQ(groups.size(), 1u) << "no name is a name as well";
  EXPECT_EQ(MostOver(table, groups[0], "calls_per_step"), 0);
  EXPECT_EQ(HowOften(table, groups[0], "calls_per_step", "calls"), "6 times");
}

}  // namespace
}  // namespace gapless::internal
