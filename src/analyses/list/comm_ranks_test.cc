// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kMicrosecond = 1000;

std::shared_ptr<const Trace> RecordedRank(int64_t rank, int64_t dur_ns) {
  HandMade trace;
  trace.Rank(rank);
  for (int64_t seq = 1; seq <= 4; ++seq) {
    CollectiveRow row{.name = trace.shard().Text("AllReduce"),
                      .kind = trace.shard().Text("all_reduce"),
                      .ts_ns = seq * 1000 * kMicrosecond,
                      .dur_ns = dur_ns};
    row.group = trace.shard().Text("0x1"), row.group_size = 2, row.seq = seq, row.bytes = 300'000;
    trace.shard().Add(row);
  }
  return trace.Finish();
}

// The first collective is left out: ranks begin to record at different moments.
TEST(CommRanks, TheRankWithTheShortestCallsCameLast) {
  Analysed run(std::vector{RecordedRank(0, 400 * kMicrosecond), RecordedRank(1, 100 * kMicrosecond)});
  const auto rows = run["comm_ranks"];
  ASSERT_EQ(rows.rows(), 4U) << "each rank, whole and by kind";
  EXPECT_TRUE(rows.IsNull(0, "kind"));
  EXPECT_EQ(rows.Int(0, "total_ns"), 1600 * kMicrosecond);
  EXPECT_EQ(rows.Int(0, "compared"), 3);
  EXPECT_EQ(rows.Int(0, "wait_ns"), 900 * kMicrosecond);
  EXPECT_EQ(rows.Int(0, "times_last"), 0);
  EXPECT_EQ(rows.Int(2, "times_last"), 3);
  EXPECT_EQ(rows.Int(2, "caused_ns"), 900 * kMicrosecond);
  EXPECT_DOUBLE_EQ(rows.Real(3, "bus_gbps"), 3.0);
}

TEST(CommRanks, CallsWithoutADurationAreNone) {
  Analysed run(std::vector{RecordedRank(0, kAbsent)});
  EXPECT_EQ(run["comm_ranks"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
