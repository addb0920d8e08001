// SPDX-License-Identifier: Apache-2.0
// Tests table step_variation: outlier steps, the part that makes them long, and the opening step.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Steps of 100 µs; step `slow` waits 200 µs longer for its batch.
void Steps(HandMade& trace, int64_t count, int64_t slow) {
  int64_t at = 0;
  for (int64_t step = 0; step < count; ++step) {
    const int64_t load = step == slow ? 210'000 : 10'000, end = at + load + 90'000;
    trace.Step(step, at, end).Loader(at, at + load).Kernel("k", {at + load, at + load + 10, at + load + 20, end});
    at = end;
  }
}

TEST(StepVariation, AnOutlierAndWhatItSpendsMoreTimeIn) {
  HandMade trace;
  Steps(trace, 10, 6);
  Analysed run(trace);
  const auto table = run["step_variation"];
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_TRUE(table.IsNull(0, "step")) << "all steps together first";
  EXPECT_EQ(table.Int(0, "steps"), 10);
  EXPECT_EQ(table.Int(0, "median_ns"), 100'000);
  EXPECT_EQ(table.Int(0, "mad_ns"), 0);
  EXPECT_EQ(table.Int(0, "outliers"), 1);
  EXPECT_EQ(table.Int(0, "excess_ns"), 200'000);
  EXPECT_DOUBLE_EQ(table.Real(0, "excess_share"), 200'000.0 / 1'200'000);
  EXPECT_NEAR(table.Real(0, "cov"), 0.527, 0.001);
  EXPECT_EQ(table.Text(0, "part"), "data");
  EXPECT_EQ(table.Int(1, "step"), 6);
  EXPECT_EQ(table.Int(1, "opening"), 0);
  EXPECT_EQ(table.Int(1, "dur_ns"), 300'000);
  EXPECT_EQ(table.Text(1, "part"), "data");
  EXPECT_NEAR(static_cast<double>(table.Int(1, "part_ns")), 200'000, 100);
}

TEST(StepVariation, TheFirstStepOfTheRecordingIsListedButNotSummedUp) {
  HandMade trace;
  Steps(trace, 10, 0);
  Analysed run(trace);
  const auto table = run["step_variation"];
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.Int(0, "outliers"), 0);
  EXPECT_EQ(table.Int(0, "excess_ns"), 0);
  EXPECT_EQ(table.Int(1, "opening"), 1);
}

TEST(StepVariation, EvenStepsHaveNoOutliers) {
  HandMade trace;
  int64_t at = 0;
  for (const int64_t dur : {100, 101, 100, 109, 100, 99}) {
    trace.Step(at, at, at + dur).Kernel("k", {at, at + 1, at + 2, at + dur});
    at += dur;
  }
  Analysed run(trace);
  ASSERT_EQ(run["step_variation"].rows(), 1u) << "109 is more than three deviations, but less than a tenth";
  EXPECT_TRUE(run["step_variation"].IsNull(0, "part"));
}

TEST(StepVariation, NeedsSteps) {
  HandMade trace;
  trace.Kernel("k", {0, 1, 2, 100});
  Analysed run(trace);
  EXPECT_EQ(run["step_variation"].rows(), 0u);
}

}  // namespace
}  // namespace gapless::internal
