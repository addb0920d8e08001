// SPDX-License-Identifier: Apache-2.0
// Tests table lost_work: launches without an operation count only where the time is analysed.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// A step of ten launches, one each 100 µs; the first `lost` of them have no operation.
void AddStep(HandMade& trace, int64_t number, int64_t lost, bool complete) {
  const int64_t start = number * kMs;
  trace.Step(number, start, start + kMs, complete);
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = start + i * 100 * kUs;
    if (i < lost)
      trace.LostLaunch(at, at + 5 * kUs);
    else
      trace.Kernel("gemm", {at, at + 5 * kUs, at + 10 * kUs, at + 90 * kUs});
  }
}

TEST(LostWork, CountsLaunchesOfStepsThatAreAnalysed) {
  HandMade trace;
  AddStep(trace, 0, 0, true), AddStep(trace, 1, 1, true), AddStep(trace, 2, 0, true);
  Analysed run(trace);
  const auto table = run["lost_work"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "launches"), 30);
  EXPECT_EQ(table.Int(0, "lost"), 1);
  EXPECT_DOUBLE_EQ(table.Real(0, "lost_share"), 1.0 / 30);
}

// The step between two others that lost its work is left out, and so is what it lost.
TEST(LostWork, LeavesOutStepsThatAreNotComplete) {
  HandMade trace;
  AddStep(trace, 0, 0, true), AddStep(trace, 1, 9, false), AddStep(trace, 2, 0, true);
  Analysed run(trace);
  EXPECT_EQ(run["lost_work"].Int(0, "launches"), 20);
  EXPECT_EQ(run["lost_work"].Int(0, "lost"), 0);
}

}  // namespace
}  // namespace gapless::internal
