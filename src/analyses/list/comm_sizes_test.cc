// SPDX-License-Identifier: Apache-2.0
// Collectives by size: results of a benchmark, recorded calls, and what a log says of both.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(CommSizes, AResultHasTheAlgorithmOfItsSizeAndTheTransport) {
  HandMade trace;
  CommBenchmarkRow result{.test = 0, .bytes = 1024, .placement = "out_of_place", .dur_ns = 12'900};
  result.kind = "all_reduce", result.ranks = 2, result.bus_gbps = 0.5;
  trace.builder().Add(result);
  CommCallRow call{.kind = "all_reduce", .calls = 40};
  call.bytes = 1024, call.algorithm = "TREE", call.protocol = "LL";
  trace.builder().Add(call);
  call.bytes = 4096, call.algorithm = "RING";
  trace.builder().Add(call);
  trace.builder().Add(
      CommChannelRow{.channel = 0, .src_rank = 0, .dst_rank = 1, .transport = "P2P/IPC", .family = "P2P"});
  Analysed run(trace);
  const auto rows = run["comm_sizes"];
  ASSERT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows.Text(0, "source"), "benchmark");
  EXPECT_EQ(rows.Text(0, "algorithm"), "TREE");
  EXPECT_EQ(rows.Text(0, "transport"), "P2P/IPC");
  EXPECT_TRUE(rows.IsNull(0, "wrong"));
  EXPECT_EQ(rows.Text(1, "source"), "log") << "a size that nothing timed";
  EXPECT_EQ(rows.Int(1, "calls"), 40);
  EXPECT_TRUE(rows.IsNull(1, "dur_ns"));
}

TEST(CommSizes, RecordedCallsOfOneSizeAreOneRow) {
  HandMade trace;
  const auto add = [&](int64_t ts, int64_t dur, int64_t bytes) {
    CollectiveRow row{
        .name = trace.shard().Text("x"), .kind = trace.shard().Text("all_reduce"), .ts_ns = ts, .dur_ns = dur};
    row.bytes = bytes, row.group_size = 4;
    trace.shard().Add(row);
  };
  add(0, 1000, 4000), add(2000, 3000, 4000), add(6000, kAbsent, 4000), add(7000, 10, kAbsent);
  Analysed run(trace);
  const auto rows = run["comm_sizes"];
  ASSERT_EQ(rows.rows(), 1U) << "calls without a time or a size say nothing";
  EXPECT_EQ(rows.Int(0, "calls"), 2);
  EXPECT_EQ(rows.Int(0, "dur_ns"), 2000);
  EXPECT_DOUBLE_EQ(rows.Real(0, "algo_gbps"), 2.0);
  EXPECT_DOUBLE_EQ(rows.Real(0, "bus_gbps"), 3.0);
}

}  // namespace
}  // namespace gapless::internal
