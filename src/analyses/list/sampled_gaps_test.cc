// SPDX-License-Identifier: Apache-2.0
// Tests table sampled_gaps: which samples count for a gap, which for work, and which for neither.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kGapSecond = 1'000'000'000;

// The program works from second 0 to 5 and from 10 to 12; between, its GPU idles.
std::shared_ptr<const Trace> Program() {
  HandMade trace;
  trace.Unlaunched("first", 0, 5 * kGapSecond).Unlaunched("last", 10 * kGapSecond, 12 * kGapSecond);
  return trace.Finish();
}

std::shared_ptr<const Trace> SamplesOf(int32_t device, double in_gap) {
  HandMade samples;
  samples.Format("telemetry");
  for (int64_t second = 0; second <= 14; ++second) {
    const bool is_gap = second > 5 && second <= 10;
    samples.Counter("gpu.utilization", second * kGapSecond, is_gap ? in_gap : 1.0, device);
    samples.Counter("gpu.power", second * kGapSecond, is_gap ? 90 : 300, device);
  }
  return samples.Finish();
}

TEST(SampledGaps, ASampleIsOfTheSecondBeforeIt) {
  Analysed run({Program(), SamplesOf(0, 0.4)});
  const auto table = run["sampled_gaps"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "gap_samples"), 5) << "seconds 6 to 10; at 5.0 the program worked until then";
  EXPECT_DOUBLE_EQ(table.Real(0, "gap_utilization_share"), 0.4);
  EXPECT_DOUBLE_EQ(table.Real(0, "gap_power_watts"), 90);
  EXPECT_EQ(table.Int(0, "busy_samples"), 7) << "1 to 5, 11 and 12; 13 and 14 are beyond the recording";
  EXPECT_DOUBLE_EQ(table.Real(0, "busy_utilization_share"), 1);
  EXPECT_DOUBLE_EQ(table.Real(0, "busy_power_watts"), 300);
}

TEST(SampledGaps, ASecondThatIsPartlyBusyCountsForNeither) {
  HandMade program;
  for (int64_t second = 0; second < 12; ++second)
    program.Unlaunched("half", second * kGapSecond, second * kGapSecond + kGapSecond / 2);
  Analysed run({program.Finish(), SamplesOf(0, 0.4)});
  const auto table = run["sampled_gaps"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "gap_samples"), 0);
  EXPECT_TRUE(table.IsNull(0, "gap_utilization_share"));
  EXPECT_EQ(table.Int(0, "busy_samples"), 0);
}

TEST(SampledGaps, SamplesAloneAndOtherDevicesHaveNoRow) {
  EXPECT_EQ(Analysed({SamplesOf(0, 0.4)})["sampled_gaps"].rows(), 0U);
  EXPECT_EQ(Analysed({Program(), SamplesOf(3, 0.4)})["sampled_gaps"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
