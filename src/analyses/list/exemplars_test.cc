// SPDX-License-Identifier: Apache-2.0
// Tests table exemplars: each recording stands in it once, the one that others wait for first.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kComm;

// Three steps of which the second takes `longer_us` more; the all-reduce begins after `compute_us`.
std::shared_ptr<const Trace> RankWith(int64_t rank, int64_t ranks, int64_t compute_us, int64_t longer_us) {
  HandMade trace;
  trace.Rank(rank, ranks);
  int64_t t = 0;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t end = t + (1000 + (step == 1 ? longer_us : 0)) * kUs, begin = t + compute_us * kUs;
    trace.Step(step, t, end).Kernel("gemm", {t, t + 1, t + 2, begin});
    trace.Kernel("nccl", {begin, begin + 1, begin, t + 900 * kUs}, kComm);
    trace.Collective("all_reduce", begin, t + 900 * kUs, 1000, 0, 20, static_cast<int32_t>(ranks));
    t = end;
  }
  return trace.Finish();
}

TEST(Exemplars, NameWhoIsWaitedForTheLongestStepAndAMedianOne) {
  Analysed run(
      std::vector{RankWith(0, 4, 300, 0), RankWith(1, 4, 700, 0), RankWith(2, 4, 310, 50), RankWith(3, 4, 320, 0)});
  const auto table = run["exemplars"];
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.Text(0, "why"), "waited_for");
  EXPECT_EQ(table.Int(0, "rank"), 1);
  EXPECT_EQ(table.Text(1, "why"), "longest_step");
  EXPECT_EQ(table.Int(1, "rank"), 2);
  EXPECT_EQ(table.Int(1, "step"), 1);
  EXPECT_EQ(table.Text(2, "why"), "median");
  EXPECT_EQ(table.Int(2, "rank"), 3);
}

TEST(Exemplars, OfOneRecordingItsLongestStep) {
  Analysed run(std::vector{RankWith(0, 1, 300, 50)});
  ASSERT_EQ(run["exemplars"].rows(), 1U);
  EXPECT_EQ(run["exemplars"].Text(0, "why"), "longest_step");
}

}  // namespace
}  // namespace gapless::internal
