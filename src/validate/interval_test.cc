// SPDX-License-Identifier: Apache-2.0
// Measures the coverage of the offered intervals on simulated step times.
#include "validate/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "validate/simulate.h"
#include "validate/testing/effort.h"

namespace gapless::internal {
namespace {

struct Share {
  double given = 0, covered_of_given = 0, wrong = 0;
};

// Samples with fixed seeds; of all 1,000 the standard error of a share near 0.95 is 0.007.
const Effort kSamples(1000);

Share Measure(SimulatedNoise noise, size_t n, Location location) {
  const int rounds = kSamples.tried;
  Random random(n);
  int given = 0, covered = 0;
  const double truth = location == Location::kMean ? TrueMean(noise) : TrueMedian(noise);
  for (int i = 0; i < rounds; ++i) {
    const auto offer = OfferInterval(Simulate(noise, n, random), {.location = location});
    if (!offer->interval) continue;
    ++given;
    covered += offer->interval->low <= truth && truth <= offer->interval->high;
  }
  return {1.0 * given / rounds, given > 0 ? 1.0 * covered / given : 1, 1.0 * (given - covered) / rounds};
}

TEST(OfferedIntervalTest, CoversTheMedianFromTheLeastNumberOfStepsOn) {
  for (const SimulatedNoise noise : {SimulatedNoise::kNormal, SimulatedNoise::kLognormal, SimulatedNoise::kOutliers,
                                     SimulatedNoise::kAr5, SimulatedNoise::kAr5Outliers}) {
    for (const size_t n : {kMinStepsForMedian, size_t{50}, size_t{100}}) {
      const Share share = Measure(noise, n, Location::kMedian);
      EXPECT_GE(share.covered_of_given, kSamples.AtLeast(0.93)) << NoiseName(noise) << ", " << n;
      EXPECT_GE(share.given, kSamples.AtLeast(n < 50 ? 0.55 : 0.95)) << NoiseName(noise) << ", " << n;
    }
  }
}

TEST(OfferedIntervalTest, CoversTheMeanFromTheLeastNumberOfStepsOn) {
  for (const SimulatedNoise noise : {SimulatedNoise::kNormal, SimulatedNoise::kLognormal, SimulatedNoise::kOutliers,
                                     SimulatedNoise::kAr5, SimulatedNoise::kAr5Outliers}) {
    const Share share = Measure(noise, kMinStepsForMean, Location::kMean);
    EXPECT_GE(share.covered_of_given, kSamples.AtLeast(0.93)) << NoiseName(noise);
    EXPECT_GE(share.given, kSamples.AtLeast(0.95)) << NoiseName(noise);
  }
}

TEST(OfferedIntervalTest, StrongDependenceIsRefusedOrCovered) {
  for (const SimulatedNoise noise : {SimulatedNoise::kAr8, SimulatedNoise::kAr9}) {
    for (const size_t n : {kMinStepsForMedian, size_t{50}, size_t{100}, size_t{300}}) {
      EXPECT_LE(Measure(noise, n, Location::kMedian).wrong, kSamples.AtMost(0.07 + 0.007))
          << NoiseName(noise) << ", " << n;
    }
  }
  EXPECT_LE(Measure(SimulatedNoise::kAr9, 30, Location::kMedian).given, kSamples.AtMost(0.1));
  EXPECT_GE(Measure(SimulatedNoise::kAr9, 300, Location::kMedian).given, kSamples.AtLeast(0.95));
}

TEST(OfferedIntervalTest, IsNotMuchWiderThanItMustBe) {
  Random random(2);
  double width = 0;
  for (int i = 0; i < 500; ++i) {
    const auto offer = OfferInterval(Simulate(SimulatedNoise::kNormal, 100, random));
    width += (offer->interval->high - offer->interval->low) / 500;
  }
  EXPECT_LT(width, 1.45 * 2 * 1.984 * 2 / 10);  // Student's t has 2 * 1.984 * sd / sqrt(n)
}

TEST(OfferedIntervalTest, RefusesWithTheReasonAndTheNumberNeeded) {
  const auto few = OfferInterval(std::vector<double>{1, 2, 3});
  ASSERT_TRUE(few);
  EXPECT_FALSE(few->interval);
  EXPECT_EQ(few->needed_n, kMinStepsForMedian);
  EXPECT_EQ(few->refusal, "an interval needs 30 steps; there are 3");
  std::vector<double> waves;
  for (int i = 0; i < 100; ++i) waves.push_back(100 + 50 * std::sin(i / 8.0));
  const auto slow = OfferInterval(waves);
  EXPECT_FALSE(slow->interval);
  EXPECT_TRUE(slow->dependent);
  EXPECT_GT(*slow->needed_n, 100u);
  EXPECT_NE(slow->refusal.find("depend on each other"), std::string::npos);
  EXPECT_FALSE(OfferInterval({})->interval);
}

// Hooks that pile up: each step takes longer than the one before, and more steps say no more.
TEST(OfferedIntervalTest, StepsThatGrowHaveNone) {
  std::vector<double> steps;
  for (int i = 0; i < 100; ++i) steps.push_back(2 + 0.05 * i + (i * 37 % 11) * 0.1);
  const auto offer = OfferInterval(steps);
  EXPECT_FALSE(offer->interval);
  EXPECT_FALSE(offer->needed_n);
  EXPECT_NE(offer->refusal.find("take 2.2"), std::string::npos) << offer->refusal;
  for (double& step : steps) step = 2 + (step - 2) / 100;
  EXPECT_TRUE(OfferInterval(steps)->interval || OfferInterval(steps)->needed_n) << "growth of 2 % is drift";
}

TEST(OfferedIntervalTest, EqualStepsGiveAPoint) {
  const auto offer = OfferInterval(std::vector<double>(40, 0.25));
  ASSERT_TRUE(offer->interval);
  EXPECT_EQ(offer->interval->low, 0.25);
  EXPECT_EQ(offer->interval->high, 0.25);
  EXPECT_FALSE(offer->effective_n);
}

TEST(OfferedIntervalTest, CoarseClocksAndAlternatingStepsGiveOrderedIntervals) {
  Random random(6);
  std::vector<double> coarse, alternating;
  for (int i = 0; i < 60; ++i) {
    coarse.push_back(std::round(random.Normal()));
    alternating.push_back(i % 2 == 0 ? 100 : 200 + random.Normal());
  }
  for (const auto& steps : {coarse, alternating}) {
    const auto offer = OfferInterval(steps);
    ASSERT_TRUE(offer->interval);
    EXPECT_LE(offer->interval->low, offer->interval->expected);
    EXPECT_LE(offer->interval->expected, offer->interval->high);
    EXPECT_LE(*offer->effective_n, 60);
  }
}

TEST(OfferedIntervalTest, MovesAndScalesWithTheSteps) {
  Random random(7);
  const auto x = Simulate(SimulatedNoise::kAr5, 400, random);
  std::vector<double> moved;
  for (const double value : x) moved.push_back(value / 16 + 3);
  for (const Location location : {Location::kMedian, Location::kMean}) {
    const auto a = OfferInterval(x, {.location = location}), b = OfferInterval(moved, {.location = location});
    EXPECT_NEAR(b->interval->low, a->interval->low / 16 + 3, 1e-9);
    EXPECT_NEAR(b->interval->expected, a->interval->expected / 16 + 3, 1e-9);
    EXPECT_NEAR(b->interval->high, a->interval->high / 16 + 3, 1e-9);
    EXPECT_LT(a->interval->low, a->interval->high);
  }
}

TEST(OfferedIntervalTest, AHigherLevelIsWider) {
  Random random(8);
  const auto x = Simulate(SimulatedNoise::kNormal, 200, random);
  for (const Location location : {Location::kMedian, Location::kMean}) {
    const auto narrow = OfferInterval(x, {.level = 0.8, .location = location});
    const auto wide = OfferInterval(x, {.level = 0.99, .location = location});
    EXPECT_LT(wide->interval->low, narrow->interval->low);
    EXPECT_GT(wide->interval->high, narrow->interval->high);
  }
}

TEST(OfferedIntervalTest, BadInputIsRefused) {
  EXPECT_FALSE(OfferInterval(std::vector<double>(50, std::nan(""))));
  EXPECT_FALSE(OfferInterval(std::vector<double>(50, 1.0), {.level = 0.4}));
  EXPECT_FALSE(OfferInterval(std::vector<double>(50, 1.0), {.level = std::nan("")}));
}

}  // namespace
}  // namespace gapless::internal
