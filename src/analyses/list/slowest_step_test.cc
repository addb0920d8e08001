// SPDX-License-Identifier: Apache-2.0
// Tests table slowest_step: the lanes of the longest complete step, and merging of short neighbours without loss.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

std::vector<size_t> RowsOf(const testing::TableByName& table, std::string_view lane) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < table.rows(); ++row)
    if (table.Text(row, "lane") == lane) rows.push_back(row);
  return rows;
}

TEST(SlowestStep, ShowsTheLongestCompleteStepLaneByLane) {
  HandMade trace;
  trace.Step(0, 0, 1'000).Step(1, 1'000, 5'000).Step(2, 5'000, 15'000, false);
  trace.Kernel("in step 0", {100, 150, 200, 400});
  trace.Operator("aten::mm", 1'100, 1'600).Kernel("mm", {1'200, 1'300, 1'400, 2'000}, {.stream = 7});
  trace.Kernel("add", {2'100, 2'200, 3'000, 4'900}, {.stream = 7});
  Analysed run(trace);
  const auto picture = run["slowest_step"];
  const auto steps = RowsOf(picture, "step"), kernels = RowsOf(picture, "gpu"), gaps = RowsOf(picture, "idle");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(picture.Int(steps[0], "step"), 1) << "step 2 was cut off";
  EXPECT_EQ(picture.Int(steps[0], "dur_ns"), 4'000);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(picture.Text(kernels[0], "name"), "mm");
  EXPECT_EQ(picture.Int(kernels[0], "stream"), 7);
  EXPECT_EQ(picture.Int(kernels[0], "ts_ns"), 1'400);
  EXPECT_EQ(picture.Int(kernels[0], "gpu_op_id"), 1);
  ASSERT_EQ(gaps.size(), 3u) << "before, between and after the kernels";
  EXPECT_EQ(picture.Int(gaps[1], "ts_ns"), 2'000);
  EXPECT_EQ(picture.Int(gaps[1], "dur_ns"), 1'000);
}

TEST(SlowestStep, DepthCountsWhatIsShownAround) {
  HandMade trace;
  trace.Step(0, 0, 1'000).Python("train.py(1): main", 0, 1'000, "train.py:1");
  trace.Operator("outer", 100, 500).Operator("inner", 200, 300).Operator("later", 600, 700);
  Analysed run(trace);
  const auto picture = run["slowest_step"];
  std::vector<std::pair<std::string, int64_t>> calls;
  for (const size_t row : RowsOf(picture, "host"))
    calls.emplace_back(picture.Text(row, "name"), picture.Int(row, "depth"));
  const std::vector<std::pair<std::string, int64_t>> expected = {
      {"ProfilerStep#0", 0}, {"outer", 1}, {"later", 1}, {"inner", 2}};
  EXPECT_EQ(calls, expected) << "Python frames are left out and do not count";
}

TEST(SlowestStep, EachRankShowsTheSameStepTheSlowestRankFirst) {
  HandMade quick, slow;
  quick.Rank(0).Step(3, 0, 1'000).Step(4, 1'000, 2'000).Kernel("k", {1'010, 1'020, 1'100, 1'200});
  slow.Rank(1).Step(3, 0, 1'500).Step(4, 1'500, 4'000).Kernel("k", {1'610, 1'620, 1'700, 1'800});
  Analysed run({quick.Finish(), slow.Finish()});
  const auto picture = run["slowest_step"];
  const auto steps = RowsOf(picture, "step");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(picture.Int(steps[0], "rank"), 1);
  EXPECT_EQ(picture.Int(steps[1], "rank"), 0);
  EXPECT_EQ(picture.Int(steps[1], "step"), 4);
  EXPECT_EQ(picture.Int(steps[1], "dur_ns"), 1'000);
}

TEST(SlowestStep, WithoutStepsItIsAllThatIsAnalysed) {
  HandMade trace;
  trace.Operator("aten::add", 0, 50).Kernel("add", {10, 20, 30, 90});
  Analysed run(trace);
  const auto picture = run["slowest_step"];
  ASSERT_EQ(RowsOf(picture, "step").size(), 1u);
  EXPECT_TRUE(picture.IsNull(0, "step"));
  EXPECT_EQ(RowsOf(picture, "gpu").size(), 1u);
}

// 60,000 kernels of 1 µs, 1 µs apart, and one of 1 ms: more than fit.
TEST(SlowestStep, ShortNeighboursBecomeOneRowAndNothingIsLost) {
  constexpr int64_t kKernels = 60'000;
  HandMade trace;
  trace.Step(0, 0, 200'000'000);
  for (int64_t i = 0; i < kKernels; ++i) trace.Unlaunched("short", i * 2'000, i * 2'000 + 1'000);
  trace.Unlaunched("long", 150'000'000, 151'000'000);
  Analysed run(trace);
  const auto picture = run["slowest_step"];
  EXPECT_LE(picture.rows(), 16'001u);
  int64_t count = 0, busy = 0, covered = 0;
  for (const size_t row : RowsOf(picture, "gpu")) {
    count += picture.Int(row, "count"), busy += picture.Int(row, "busy_ns"), covered += picture.Int(row, "dur_ns");
    const bool is_long = picture.Text(row, "name") == "long";
    EXPECT_TRUE(!is_long || picture.Int(row, "count") == 1);
  }
  EXPECT_EQ(count, kKernels + 1);
  EXPECT_EQ(busy, kKernels * 1'000 + 1'000'000);
  EXPECT_GE(covered, busy);
}

}  // namespace
}  // namespace gapless::internal
