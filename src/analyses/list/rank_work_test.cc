// SPDX-License-Identifier: Apache-2.0
// Tests tables rank_work and rank_kernels: the sums of a rank's complete steps, communication and other steps left out.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kComm;

// Two complete steps with two kernels and an exchange each, and a step that was cut off.
Analysed TwoSteps() {
  HandMade trace;
  trace.Rank(0);
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * 1000 * kUs;
    trace.Step(step, t, t + 1000 * kUs, step < 2);
    trace.Kernel("gemm", {t + 10 * kUs, t + 12 * kUs, t + 20 * kUs, t + 120 * kUs});
    trace.Kernel("relu", {t + 13 * kUs, t + 15 * kUs, t + 120 * kUs, t + 150 * kUs});
    trace.Kernel("nccl", {t + 16 * kUs, t + 18 * kUs, t + 200 * kUs, t + 300 * kUs}, kComm);
  }
  return Analysed(trace);
}

TEST(RankWork, IsThatOfCompleteSteps) {
  Analysed run = TwoSteps();
  const auto work = run["rank_work"];
  ASSERT_EQ(work.rows(), 1U);
  EXPECT_EQ(work.Int(0, "kernels"), 4);
  EXPECT_EQ(work.Int(0, "kernel_ns"), 2 * 130 * kUs);
  EXPECT_EQ(work.Int(0, "compute_ns"), 2 * 130 * kUs);
  EXPECT_EQ(work.Int(0, "copies_ns"), 0);
}

TEST(RankKernels, AreNamedWithoutCommunication) {
  Analysed run = TwoSteps();
  const auto kernels = run["rank_kernels"];
  ASSERT_EQ(kernels.rows(), 2U);
  EXPECT_EQ(kernels.Text(0, "kernel"), "gemm");
  EXPECT_EQ(kernels.Int(0, "calls"), 2);
  EXPECT_EQ(kernels.Int(0, "total_ns"), 2 * 100 * kUs);
  EXPECT_EQ(kernels.Text(1, "kernel"), "relu");
}

}  // namespace
}  // namespace gapless::internal
