// SPDX-License-Identifier: Apache-2.0
// Tests table ranks: the rank that delays the others, and its cause: more work, slower kernels or late data.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kComm;

struct RankWork {
  int64_t kernels = 4, each_us = 100, load_us = 0;
};

// Three steps of a millisecond: loading, kernels one after the other, then an all-reduce that ends for all at 900 µs.
std::shared_ptr<const Trace> WorkingRank(int64_t rank, RankWork work) {
  HandMade trace;
  trace.Rank(rank);
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * 1000 * kUs;
    trace.Step(step, t, t + 1000 * kUs);
    int64_t at = t;
    if (work.load_us > 0) trace.Loader(t, t + work.load_us * kUs);
    at += work.load_us * kUs;
    for (int64_t i = 0; i < work.kernels; ++i, at += work.each_us * kUs)
      trace.Kernel("gemm", {at, at + 1, at + 2, at + work.each_us * kUs});
    trace.Kernel("nccl", {at, at + 1, at, t + 900 * kUs}, kComm);
    trace.Collective("all_reduce", at, t + 900 * kUs, 1000);
    trace.Kernel("adam", {t + 900 * kUs, t + 900 * kUs + 1, t + 900 * kUs, t + 1000 * kUs});
  }
  return trace.Finish();
}

TEST(Ranks, TheOneWithMoreKernelsMakesTheOthersWait) {
  Analysed run(std::vector{WorkingRank(0, {}), WorkingRank(1, {.kernels = 6}), WorkingRank(2, {})});
  const auto ranks = run["ranks"];
  ASSERT_EQ(ranks.rows(), 3u);
  EXPECT_EQ(ranks.Int(0, "rank"), 1) << "the one that others wait for first";
  EXPECT_EQ(ranks.Int(0, "compared"), 0) << "without a group size of three these are two groups of two";
}

TEST(Ranks, TwoOfThemCompared) {
  Analysed run(std::vector{WorkingRank(0, {}), WorkingRank(1, {.kernels = 6})});
  const auto ranks = run["ranks"];
  ASSERT_EQ(ranks.rows(), 2u);
  EXPECT_EQ(ranks.Int(0, "rank"), 1);
  EXPECT_EQ(ranks.Int(0, "compared"), 2) << "of three the first opens the recording";
  EXPECT_EQ(ranks.Int(0, "times_last"), 2);
  EXPECT_EQ(ranks.Int(0, "caused_wait_ns"), 2 * 200 * kUs);
  EXPECT_EQ(ranks.Int(0, "waiting_ns"), 0);
  EXPECT_EQ(ranks.Int(1, "waiting_ns"), 2 * 200 * kUs);
  EXPECT_EQ(ranks.Int(1, "opening_waiting_ns"), 200 * kUs);
  EXPECT_EQ(ranks.Int(1, "times_first"), 2);
  EXPECT_NEAR(ranks.Real(0, "imbalance"), 700.0 / 500, 1e-3);
  EXPECT_DOUBLE_EQ(ranks.Real(1, "imbalance"), 1);
  EXPECT_EQ(ranks.Text(0, "behind"), "more_kernel_work");
  EXPECT_EQ(ranks.Text(0, "behind_kernel"), "gemm");
  EXPECT_NEAR(static_cast<double>(ranks.Int(0, "behind_ns")), 100 * kUs, 100) << "against the median of the two";
  EXPECT_EQ(ranks.Int(0, "steps"), 3);
  EXPECT_EQ(ranks.Int(0, "step_ns"), 1000 * kUs);
}

// Two ranks with the same step of 500 µs; the recording of the second begins with 150 µs of kernels launched before it,
// and has 150 µs of the next step, which is cut off.
TEST(Ranks, WorkOfOtherStepsIsNotTheirOwn) {
  std::vector<std::shared_ptr<const Trace>> ranks;
  for (int64_t rank = 0; rank < 2; ++rank) {
    HandMade trace;
    trace.Rank(rank).Step(0, 0, 1000 * kUs).Step(1, 1000 * kUs, 1010 * kUs, false);
    if (rank == 1) trace.Unlaunched("adam", 0, 150 * kUs);
    trace.Kernel("gemm", {1, 2, 200 * kUs, 600 * kUs}).Kernel("gemm", {3, 4, 600 * kUs, 700 * kUs});
    trace.Copy(CopyKind::kHtoDPinned, {5, 6, 690 * kUs, 720 * kUs});
    if (rank == 1) trace.Kernel("gemm", {1001 * kUs, 1002 * kUs, 750 * kUs, 900 * kUs});
    ranks.push_back(trace.Finish());
  }
  Analysed run(ranks);
  const auto table = run["ranks"];
  for (size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(table.Int(row, "own_ns"), 520 * kUs) << "500 of kernels, 20 of a copy alone";
    EXPECT_EQ(table.Int(row, "kernels"), 2);
    EXPECT_DOUBLE_EQ(table.Real(row, "imbalance"), 1);
    EXPECT_TRUE(table.Text(row, "behind") != "more_kernel_work");
  }
}

TEST(Ranks, WhereFewLaunchesAreRecordedTheTimeTellsTheStep) {
  HandMade trace;
  trace.Step(0, 0, 1000 * kUs).Kernel("gemm", {1, 2, 100 * kUs, 200 * kUs});
  trace.Unlaunched("gemm", 300 * kUs, 400 * kUs).Unlaunched("gemm", 500 * kUs, 600 * kUs);
  Analysed run(trace);
  EXPECT_EQ(run["ranks"].Int(0, "own_ns"), 300 * kUs);
  EXPECT_EQ(run["ranks"].Int(0, "kernels"), 3);
}

TEST(Ranks, TheSameKernelsRunMoreSlowlyAreToldApart) {
  Analysed run(std::vector{WorkingRank(0, {}), WorkingRank(1, {.each_us = 150})});
  const auto ranks = run["ranks"];
  EXPECT_EQ(ranks.Int(0, "rank"), 1);
  EXPECT_EQ(ranks.Text(0, "behind"), "slower_kernels");
  EXPECT_EQ(ranks.Text(0, "behind_kernel"), "gemm");
  EXPECT_GT(ranks.Real(0, "slowdown"), 1.1);
  EXPECT_LT(ranks.Real(1, "slowdown"), 0.9);
}

TEST(Ranks, ALoaderThatIsLateIsNamed) {
  Analysed run(std::vector{WorkingRank(0, {}), WorkingRank(1, {.load_us = 300})});
  EXPECT_EQ(run["ranks"].Int(0, "rank"), 1);
  EXPECT_EQ(run["ranks"].Text(0, "behind"), "data");
  EXPECT_TRUE(run["ranks"].IsNull(0, "behind_kernel"));
}

TEST(Ranks, OneAloneIsComparedWithNobody) {
  Analysed run(std::vector{WorkingRank(0, {})});
  const auto ranks = run["ranks"];
  ASSERT_EQ(ranks.rows(), 1u);
  for (const std::string_view column :
       {"imbalance", "waiting_ns", "opening_waiting_ns", "kernel_work_ns", "slowdown", "behind"})
    EXPECT_TRUE(ranks.IsNull(0, column)) << column;
  EXPECT_EQ(ranks.Int(0, "kernels"), 15);
}

}  // namespace
}  // namespace gapless::internal
