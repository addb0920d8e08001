// SPDX-License-Identifier: Apache-2.0
// Tests the estimators on series with known autocorrelation.
#include "validate/dependence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/simulate.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

TEST(DependenceTest, AutocorrelationByHand) {
  const std::vector<double> x = {1, 2, 3, 4};  // deviations -1.5 -0.5 0.5 1.5: 5 in squares, 1.25 at lag 1
  const auto r = Autocorrelations(x, 10);
  ASSERT_EQ(r.size(), 4u);
  EXPECT_DOUBLE_EQ(r[0], 1);
  EXPECT_DOUBLE_EQ(r[1], 0.25);
  EXPECT_DOUBLE_EQ(*Lag1(x), 0.25);
}

TEST(DependenceTest, AConstantSeriesHasNone) {
  const std::vector<double> x(50, 0.1);
  EXPECT_TRUE(Autocorrelations(x, 3).empty());
  EXPECT_FALSE(Lag1(x));
  EXPECT_FALSE(EffectiveSampleSize(x));
  EXPECT_FALSE(AndrewsBandwidth(x));
  EXPECT_EQ(LongRunVariance(x), 0.0);
  EXPECT_FALSE(LongRunVariance(std::vector<double>{1, 2}));
}

// An AR(1) has the autocorrelation time (1 + phi) / (1 - phi).
TEST(DependenceTest, AutocorrelationTimeOfAnAr1) {
  Random random(1);
  EXPECT_NEAR(*AutocorrelationTime(Simulate(SimulatedNoise::kNormal, 50'000, random)), 1, 0.1);
  EXPECT_NEAR(*AutocorrelationTime(Simulate(SimulatedNoise::kAr5, 50'000, random)), 3, 0.3);
  EXPECT_NEAR(*AutocorrelationTime(Simulate(SimulatedNoise::kAr9, 50'000, random)), 19, 3);
  EXPECT_NEAR(*EffectiveSampleSize(Simulate(SimulatedNoise::kAr5, 30'000, random)), 10'000, 1500);
}

TEST(DependenceTest, AlternatingSeriesGetNoCredit) {
  std::vector<double> x;
  for (int i = 0; i < 100; ++i) x.push_back(i % 2);
  EXPECT_DOUBLE_EQ(*AutocorrelationTime(x), 1);
  EXPECT_LT(*Lag1(x), -0.9);
}

TEST(DependenceTest, LongRunVarianceOfAnAr1) {
  Random random(2);
  EXPECT_NEAR(*LongRunVariance(Simulate(SimulatedNoise::kNormal, 50'000, random)), 4, 0.3);
  EXPECT_NEAR(*LongRunVariance(Simulate(SimulatedNoise::kAr5, 50'000, random)), 12, 1.5);
}

// Andrews 1991, equation 6.4 for one AR(1): 4 rho^2 / ((1 - rho)^2 (1 + rho)^2).
TEST(DependenceTest, BandwidthFollowsTheLagOneAutocorrelation) {
  Random random(3);
  const auto x = Simulate(SimulatedNoise::kAr5, 400, random);
  const double rho = *Lag1(x);
  const double alpha = 4 * rho * rho / std::pow(1 - rho * rho, 2);
  EXPECT_NEAR(*AndrewsBandwidth(x), 1.1447 * std::cbrt(alpha * 400), 1e-9);
}

TEST(DependenceTest, TheRuleOfTwoStandardErrors) {
  EXPECT_TRUE(LooksDependent(0.21, 100));
  EXPECT_FALSE(LooksDependent(0.19, 100));
  EXPECT_FALSE(LooksDependent(-0.5, 100));
}

TEST(DependenceTest, ScaleAndOffsetChangeNothing) {
  Random random(4);
  const auto x = Simulate(SimulatedNoise::kAr8, 200, random);
  std::vector<double> moved;
  for (const double value : x) moved.push_back(-5 * value + 1000);
  EXPECT_NEAR(*Lag1(moved), *Lag1(x), 1e-9);
  EXPECT_NEAR(*AutocorrelationTime(moved), *AutocorrelationTime(x), 1e-8);
  EXPECT_NEAR(*LongRunVariance(moved), 25 * *LongRunVariance(x), 1e-6);
}

}  // namespace
}  // namespace gapless::internal
