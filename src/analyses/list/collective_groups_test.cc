// SPDX-License-Identifier: Apache-2.0
// Tests table collective_groups: transfer and waiting over ranks, the best call, a single rank, and collectives on the
// host.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kComm;

// Two all-reduces of 1 MB; the second begins at `start_us` and ends at 900 µs, while a kernel computes until 500 µs.
std::shared_ptr<const Trace> ReducingRank(int64_t rank, int64_t start_us, int64_t bytes = 1'000'000) {
  HandMade trace;
  trace.Rank(rank).Step(0, 0, 1000 * kUs).Kernel("gemm", {0, 1 * kUs, 2 * kUs, 500 * kUs});
  trace.Kernel("nccl", {2 * kUs, 3 * kUs, 100 * kUs, 200 * kUs}, kComm);
  trace.Collective("all_reduce", 100 * kUs, 200 * kUs, bytes);
  trace.Kernel("nccl", {4 * kUs, 5 * kUs, start_us * kUs, 900 * kUs}, kComm);
  trace.Collective("all_reduce", start_us * kUs, 900 * kUs, bytes);
  return trace.Finish();
}

TEST(CollectiveGroups, TransferIsTheShortestOfAllRanksAndWaitingTheRest) {
  Analysed run(std::vector{ReducingRank(0, 400), ReducingRank(1, 800)});
  const auto groups = run["collective_groups"];
  ASSERT_EQ(groups.rows(), 2u);
  EXPECT_EQ(groups.Text(0, "kind"), "all_reduce");
  EXPECT_TRUE(groups.IsNull(0, "backend"));
  EXPECT_TRUE(groups.IsNull(0, "group"));
  EXPECT_EQ(groups.Int(0, "group_size"), 2);
  EXPECT_EQ(groups.Int(0, "calls"), 2);
  EXPECT_EQ(groups.Int(0, "matched"), 2);
  EXPECT_EQ(groups.Int(0, "total_ns"), 600 * kUs);
  EXPECT_EQ(groups.Int(0, "exposed_ns"), 400 * kUs) << "500 to 900";
  EXPECT_EQ(groups.Int(0, "transfer_ns"), 200 * kUs);
  EXPECT_EQ(groups.Int(0, "wait_ns"), 400 * kUs);
  EXPECT_EQ(groups.Int(0, "opening_wait_ns"), 0);
  EXPECT_EQ(groups.Int(0, "times_first"), 1);
  EXPECT_EQ(groups.Int(0, "times_last"), 0);
  EXPECT_EQ(groups.Int(1, "times_last"), 1);
  EXPECT_EQ(groups.Int(1, "start_lag_mean_ns"), 400 * kUs) << "of the second call; the first opens the recording";
  EXPECT_DOUBLE_EQ(groups.Real(0, "algo_gbps"), 2e6 / 200e3) << "over the transfer, not the waiting";
  EXPECT_DOUBLE_EQ(groups.Real(0, "bus_gbps"), 10.0) << "two ranks: factor 1";
  EXPECT_EQ(groups.Int(0, "small_calls"), 0);
}

TEST(CollectiveGroups, TheBestCallIsALargeOneAndHasLeastWaiting) {
  Analysed run(std::vector{ReducingRank(0, 400, 2'000'000)});
  const auto alone = run["collective_groups"];
  EXPECT_DOUBLE_EQ(alone.Real(0, "best_bus_gbps"), 20) << "of 2 MB in 100 µs; the other takes 500";
  EXPECT_EQ(alone.Int(0, "best_bytes"), 2'000'000);
  EXPECT_DOUBLE_EQ(alone.Real(0, "bus_gbps"), 4e6 / 600e3);
  Analysed small(std::vector{ReducingRank(0, 400, 1'000'000)});
  EXPECT_TRUE(small["collective_groups"].IsNull(0, "best_bus_gbps")) << "below 1 MiB latency counts";
  EXPECT_TRUE(small["collective_groups"].IsNull(0, "best_bytes"));
}

TEST(CollectiveGroups, OfOneRankHaveNothingToCompareWith) {
  Analysed run(std::vector{ReducingRank(0, 400, 4096)});
  const auto groups = run["collective_groups"];
  ASSERT_EQ(groups.rows(), 1u);
  EXPECT_EQ(groups.Int(0, "matched"), 0);
  for (const std::string_view column : {"transfer_ns", "wait_ns", "opening_wait_ns", "start_lag_mean_ns", "times_last"})
    EXPECT_TRUE(groups.IsNull(0, column)) << column;
  EXPECT_DOUBLE_EQ(groups.Real(0, "algo_gbps"), 2 * 4096 / 600e3);
  EXPECT_EQ(groups.Int(0, "small_calls"), 2);
  EXPECT_EQ(groups.Int(0, "small_exposed_ns"), 400 * kUs);
}

TEST(CollectiveGroups, OnTheHostTellTheirBackendAndTheIdleTimeOfTheDevice) {
  HandMade trace;
  trace.Kernel("gemm", {0, 1, 2, 100}).Kernel("gemm", {200, 201, 300, 400}).Operator("gloo:all_reduce", 150, 250);
  trace.shard().Add(CollectiveRow{.name = trace.shard().Text("gloo:all_reduce"),
                                  .kind = trace.shard().Text("all_reduce"),
                                  .pid = 1,
                                  .tid = testing::kMain,
                                  .ts_ns = 150,
                                  .dur_ns = 100});
  Analysed run(trace);
  const auto groups = run["collective_groups"];
  ASSERT_EQ(groups.rows(), 1u);
  EXPECT_TRUE(groups.IsNull(0, "device"));
  EXPECT_EQ(groups.Text(0, "backend"), "gloo");
  EXPECT_EQ(groups.Int(0, "idle_ns"), 100);
  for (const std::string_view column : {"exposed_ns", "bytes", "algo_gbps", "small_calls", "gpu_op_id"})
    EXPECT_TRUE(groups.IsNull(0, column)) << column;
}

}  // namespace
}  // namespace gapless::internal
