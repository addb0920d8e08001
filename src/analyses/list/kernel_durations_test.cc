// SPDX-License-Identifier: Apache-2.0
// Tests tables kernel_durations and job_kernels: quantiles of a device's kernels, and of all ranks together.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "base/duration_sketch.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// A hundred runs of one kernel, of 100 to 199 µs times `scale`, and one short kernel that is beneath notice.
std::shared_ptr<const Trace> RankOfKernels(int64_t rank, int64_t scale) {
  HandMade trace;
  trace.Rank(rank, 2);
  int64_t t = 0;
  for (int64_t i = 0; i < 100; ++i) {
    const int64_t end = t + (100 + i) * scale * kUs;
    trace.Kernel("gemm", {t, t + 1, t + 2, end}), t = end + 10;
  }
  trace.Kernel("tiny", {t, t + 1, t + 2, t + 5});
  return trace.Finish();
}

TEST(KernelDurations, QuantilesOfEachNameThatTakesTime) {
  Analysed run(std::vector{RankOfKernels(0, 1)});
  const auto table = run["kernel_durations"];
  ASSERT_EQ(table.rows(), 1U) << "the tiny kernel takes less than a thousandth";
  EXPECT_EQ(table.Text(0, "kernel"), "gemm");
  EXPECT_EQ(table.Int(0, "calls"), 100);
  EXPECT_NEAR(static_cast<double>(table.Int(0, "p50_ns")), 149e3, 0.0101 * 149e3);
  EXPECT_NEAR(static_cast<double>(table.Int(0, "p99_ns")), 198e3, 0.0101 * 198e3);
  EXPECT_EQ(table.Int(0, "max_ns"), 199 * kUs - 2);
  EXPECT_NEAR(table.Real(0, "error"), 0.01, 1e-12);
  EXPECT_EQ(DurationSketch::FromText(table.Text(0, "buckets"))->count(), 100);
}

TEST(JobKernels, AllRanksTogetherAndTheSlowest) {
  Analysed run(std::vector{RankOfKernels(0, 1), RankOfKernels(1, 3)});
  const auto table = run["job_kernels"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "ranks"), 2);
  EXPECT_EQ(table.Int(0, "calls"), 200);
  EXPECT_EQ(table.Int(0, "rank"), 1) << "where its median is longest";
  EXPECT_NEAR(static_cast<double>(table.Int(0, "slowest_p50_ns")), 447e3, 0.0101 * 447e3);
  EXPECT_NEAR(static_cast<double>(table.Int(0, "p50_ns")), 199e3, 0.0101 * 199e3) << "all of rank 0 take less";
  EXPECT_EQ(table.Int(0, "max_ns"), 3 * 199 * kUs - 2);
}

}  // namespace
}  // namespace gapless::internal
