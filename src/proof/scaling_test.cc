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

// Efficiencies of 0.8, 0.5 and 1.0. By hand: ln has the mean −0.305430 and the standard deviation 0.353824; t of 2
// degrees of freedom is 4.302653, and 4.302653 × 0.353824 ÷ √3 = 0.878948.
TEST(Scaling, TheIntervalIsStudentsOfTheLogarithms) {
  const ScalingCurve curve = CurveOf(
      {{PointOf(1, 100), PointOf(2, 125)}, {PointOf(1, 100), PointOf(2, 200)}, {PointOf(1, 110), PointOf(2, 110)}});
  ASSERT_TRUE(curve.points[1].efficiency_low && curve.points[1].efficiency_high);
  EXPECT_NEAR(*curve.points[1].efficiency_low, 0.305936, 1e-5);
  EXPECT_NEAR(*curve.points[1].efficiency_high, 1.774498, 1e-5);
  EXPECT_FALSE(curve.points[0].efficiency_low) << "1 by definition";
  EXPECT_FALSE(CurveOf({{PointOf(1, 100), PointOf(2, 125)}}).points[1].efficiency_low) << "one round";
}

TEST(Scaling, StrongScalingDividesTheSamplesOfTheFewestRanks) {
  using enum ScalingCurve::Kind;
  EXPECT_EQ(*BatchesOf(kWeak, {1, 2, 4}, 64), (std::vector<int64_t>{64, 64, 64}));
  EXPECT_EQ(*BatchesOf(kStrong, {2, 4, 8}, 64), (std::vector<int64_t>{64, 32, 16}));
  EXPECT_FALSE(BatchesOf(kStrong, {1, 3}, 64));
  const std::vector<std::string> command{"train.py", "--batch={batch}", "{n}", "x{batch}{batch}"};
  EXPECT_EQ(WithRanks(WithBatch(command, 32), 4), (std::vector<std::string>{"train.py", "--batch=32", "4", "x3232"}));
  EXPECT_TRUE(HasBatchPlace(command));
}

// Rounds of no time: all are run. A budget of nothing leaves the first.
TEST(Scaling, RoundsEndWithTheBudget) {
  std::vector<std::pair<int, int64_t>> asked;
  const auto run = [&](int ranks, int64_t batch) -> Result<RunSample> {
    asked.emplace_back(ranks, batch);
    return PointOf(ranks, 100 + 10 * ranks).sample;
  };
  ScalingPlan plan{.counts = {1, 2}, .batches = {8, 4}, .rounds = 3, .budget_s = 1000};
  EXPECT_EQ(MeasureScaling(plan, run)->rounds, 3U);
  EXPECT_EQ(asked.size(), 6U);
  EXPECT_EQ(asked[1], (std::pair<int, int64_t>{2, 4}));
  plan.budget_s = 0;
  EXPECT_EQ(MeasureScaling(plan, run)->rounds, 1U);
}

}  // namespace
}  // namespace gapless::internal
