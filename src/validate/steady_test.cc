// SPDX-License-Identifier: Apache-2.0
// Tests where the steady state begins, on simulated warm-ups, slowdowns and spikes.
#include "validate/steady.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "validate/simulate.h"

namespace gapless::internal {
namespace {

// Steps of 100 with a standard deviation of 1 %, times what `shape` says.
std::vector<double> Steps(size_t n, uint64_t seed, const std::function<double(size_t)>& shape) {
  Random random(seed);
  std::vector<double> out;
  for (size_t i = 0; i < n; ++i) out.push_back(100 * shape(i) * (1 + 0.01 * random.Normal()));
  return out;
}

TEST(SteadyTest, SteadyFromTheFirstStep) {
  const auto state = *FindSteadyState(Steps(200, 1, [](size_t) { return 1.0; }));
  EXPECT_EQ(state.outcome, SteadyOutcome::kFlat);
  EXPECT_EQ(state.start, 0u);
  EXPECT_NEAR(*state.level, 100, 0.5);
  EXPECT_EQ(state.segments.size(), 1u);
}

TEST(SteadyTest, AWarmUpWithALevelOfItsOwn) {
  const auto state = *FindSteadyState(Steps(200, 2, [](size_t i) { return i < 30 ? 1.5 : 1.0; }));
  EXPECT_EQ(state.outcome, SteadyOutcome::kWarmup);
  EXPECT_GE(*state.start, 30u);
  EXPECT_LE(*state.start, 40u);
  ASSERT_EQ(state.segments.size(), 2u);
  EXPECT_NEAR(state.segments[0].level, 150, 1);
}

TEST(SteadyTest, TheFirstStepsOfAJob) {
  const auto state = *FindSteadyState(Steps(100, 3, [](size_t i) { return i == 0 ? 50 : i < 3 ? 3 : 1.0; }));
  EXPECT_EQ(state.outcome, SteadyOutcome::kWarmup);
  EXPECT_GE(*state.start, 3u);
  EXPECT_LE(*state.start, 5u);
}

TEST(SteadyTest, AGradualWarmUp) {
  const auto shape = [](size_t i) { return 1 + 0.5 * std::exp(-static_cast<double>(i) / 20); };
  const auto state = *FindSteadyState(Steps(400, 4, shape));
  EXPECT_EQ(state.outcome, SteadyOutcome::kWarmup);
  EXPECT_GE(*state.start, 50u);  // there it is still 4 % slow
  EXPECT_LE(*state.start, 200u);
}

TEST(SteadyTest, ASlowdown) {
  const auto state = *FindSteadyState(Steps(200, 5, [](size_t i) { return i < 60 ? 1.0 : 1.1; }));
  EXPECT_EQ(state.outcome, SteadyOutcome::kSlowdown);
  EXPECT_NEAR(static_cast<double>(*state.start), 60, 3);
}

TEST(SteadyTest, NeverSteady) {
  const auto ramp = *FindSteadyState(Steps(300, 6, [](size_t i) { return 1 + static_cast<double>(i) / 300; }));
  EXPECT_EQ(ramp.outcome, SteadyOutcome::kNone);
  EXPECT_FALSE(ramp.start || ramp.level);
  const auto late = *FindSteadyState(Steps(200, 7, [](size_t i) { return i < 170 ? 1.0 : 1.2; }));
  EXPECT_EQ(late.outcome, SteadyOutcome::kNone);
}

TEST(SteadyTest, SpikesAndSmallStepsAreNotLevels) {
  const auto spikes = *FindSteadyState(Steps(200, 8, [](size_t i) { return i % 37 == 20 ? 4 : 1.0; }));
  EXPECT_EQ(spikes.outcome, SteadyOutcome::kFlat);
  const auto small = *FindSteadyState(Steps(400, 9, [](size_t i) { return i < 200 ? 1.005 : 1.0; }));
  EXPECT_EQ(small.outcome, SteadyOutcome::kFlat);
}

// A steady but noisy series is seldom classified as anything else.
TEST(SteadyTest, FalseAlarmsAreRare) {
  for (const SimulatedNoise noise :
       {SimulatedNoise::kNormal, SimulatedNoise::kOutliers, SimulatedNoise::kAr5, SimulatedNoise::kAr5Outliers}) {
    Random random(10);
    int moving = 0;
    for (int i = 0; i < 200; ++i) {
      const auto steps = Simulate(noise, 100, random);
      const auto state = *FindSteadyState(steps);
      moving += !state.start || *state.start > 5;
    }
    EXPECT_LE(moving, 10) << NoiseName(noise);
  }
}

TEST(SteadyTest, AWarmUpOfFiveStandardDeviationsIsSeenInDependentSteps) {
  Random random(12);
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    auto steps = Simulate(SimulatedNoise::kAr5, 100, random);
    for (size_t step = 0; step < 20; ++step) steps[step] *= 1.1;
    const auto state = *FindSteadyState(steps);
    seen += state.outcome == SteadyOutcome::kWarmup && *state.start >= 17 && *state.start <= 60;
  }
  EXPECT_GE(seen, 180);
}

TEST(SteadyTest, ConstantCoarseAndLongSeriesEnd) {
  const auto constant = *FindSteadyState(std::vector<double>(50, 0.5));
  EXPECT_EQ(constant.outcome, SteadyOutcome::kFlat);
  EXPECT_EQ(constant.level, 0.5);
  EXPECT_EQ(FindSteadyState(std::vector<double>(30, 0.0))->outcome, SteadyOutcome::kFlat);
  std::vector<double> coarse;
  for (int i = 0; i < 100; ++i) coarse.push_back(i % 3 == 0 ? 17 : 16);
  EXPECT_TRUE(FindSteadyState(coarse)->start);
  const auto shape = [](size_t i) { return i < 10'000 ? 1.3 : 1.0; };
  const auto state = *FindSteadyState(Steps(100'000, 11, shape));
  EXPECT_EQ(state.outcome, SteadyOutcome::kWarmup);
  EXPECT_GE(*state.start, 9'900u);
  EXPECT_LE(*state.start, 20'000u);
}

TEST(SteadyTest, ShortAndBadSeries) {
  const auto few = *FindSteadyState(std::vector<double>(19, 1.0));
  EXPECT_EQ(few.outcome, SteadyOutcome::kTooShort);
  EXPECT_FALSE(few.start);
  EXPECT_EQ(FindSteadyState({})->outcome, SteadyOutcome::kTooShort);
  EXPECT_FALSE(FindSteadyState(std::vector<double>(30, std::nan(""))));
}

TEST(SteadyTest, Mser5ByHand) {
  // Without the first batch the squares are 0.012 over 5^2, without two 0.01 over 4^2, without three 0.0067 over 3^2.
  std::vector<double> steps;
  for (const double batch : {9.0, 1.0, 1.1, 1.0, 1.1, 1.0}) steps.insert(steps.end(), 5, batch);
  EXPECT_EQ(Mser5(steps), 5u);
  EXPECT_EQ(Mser5(std::vector<double>(9, 1.0)), 0u);
  EXPECT_EQ(Mser5(std::vector<double>(100, 1.0)), 0u);
}

}  // namespace
}  // namespace gapless::internal
