// SPDX-License-Identifier: Apache-2.0
#include "proof/scaling.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

// A run of `ranks` with ten steps of `step_ms`, and 32 samples a rank in each.
ScalingPoint PointOf(int ranks, int64_t step_ms) {
  ScalingPoint point{.ranks = ranks, .sample = {}};
  point.sample.source = SampleSource::kSteps;
  point.sample.step_ns.assign(10, step_ms * 1'000'000);
  point.sample.samples_per_second = 32e3 * ranks / static_cast<double>(step_ms);
  return point;
}

TEST(Scaling, OneRoundHasNoRange) {
  const ScalingCurve curve = CurveOf({{PointOf(1, 100), PointOf(2, 125)}});
  EXPECT_EQ(curve.rounds, 1U);
  EXPECT_EQ(curve.kind, ScalingCurve::Kind::kWeak);
  EXPECT_DOUBLE_EQ(curve.points[1].speedup, 1.6);
  EXPECT_DOUBLE_EQ(curve.points[1].efficiency, 0.8);
  EXPECT_EQ(curve.points[1].lowest_efficiency, 0);
}

// The second round was slow with two ranks, the third with one: the medians are 100 and 125 ms.
TEST(Scaling, RoundsGiveTheMedianAndTheRangeBesideTheFirstCountOfTheSameRound) {
  const ScalingCurve curve = CurveOf(
      {{PointOf(1, 100), PointOf(2, 125)}, {PointOf(1, 100), PointOf(2, 200)}, {PointOf(1, 110), PointOf(2, 110)}});
  EXPECT_EQ(curve.rounds, 3U);
  EXPECT_DOUBLE_EQ(curve.points[1].efficiency, 0.8);
  EXPECT_DOUBLE_EQ(curve.points[1].lowest_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(curve.points[1].highest_efficiency, 1.0);
}

}  // namespace
}  // namespace gapless::internal
