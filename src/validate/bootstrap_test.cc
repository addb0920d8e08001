// SPDX-License-Identifier: Apache-2.0
// Tests bootstrap intervals against Student's interval and published examples.
#include "validate/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/dependence.h"
#include "validate/simulate.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

double MeanOf(std::span<const double> x) { return *Mean(x); }
double MedianOf(std::span<const double> x) { return *Median(x); }

std::vector<double> Sample(SimulatedNoise noise, size_t n, uint64_t seed) {
  Random random(seed);
  return Simulate(noise, n, random);
}

TEST(BootstrapTest, TheSeedDecides) {
  const auto x = Sample(SimulatedNoise::kLognormal, 30, 1);
  const auto a = BcaBootstrap(x, MeanOf, {.seed = 5}), b = BcaBootstrap(x, MeanOf, {.seed = 5});
  const auto c = BcaBootstrap(x, MeanOf, {.seed = 6});
  EXPECT_EQ(a->low, b->low);
  EXPECT_EQ(a->high, b->high);
  EXPECT_NE(a->low, c->low);
}

// For the mean of many normal values all intervals approach the t interval.
TEST(BootstrapTest, MeetsStudentWhereBothAreRight) {
  const auto x = Sample(SimulatedNoise::kNormal, 400, 2);
  const double reach = 1.966 * *StandardDeviation(x) / 20, mean = *Mean(x);
  const BootstrapOptions options = {.resamples = 10'000};
  for (const auto& interval : {PercentileBootstrap(x, MeanOf, options), BcaBootstrap(x, MeanOf, options),
                               BlockBootstrap(x, MeanOf, Blocks::kMoving, 1, options),
                               BlockBootstrap(x, MeanOf, Blocks::kStationary, 1, options)}) {
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low, mean - reach, 0.05 * reach);
    EXPECT_NEAR(interval->high, mean + reach, 0.05 * reach);
    EXPECT_DOUBLE_EQ(interval->expected, mean);
  }
}

// Efron and Tibshirani 1993, table 14.1 and section 14.3: spatial data, variance with divisor n, A. BCa (115.8, 259.6)
// and percentile (100.8, 233.9) at 90 % with 2,000 resamples, whose own standard error is about 2.
TEST(BootstrapTest, TheSpatialDataOfEfronAndTibshirani) {
  const std::vector<double> a = {48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6,
                                 0,  33, 28, 34, 4,  32, 24, 47, 41, 24, 26, 30, 41};
  const auto variance = [](std::span<const double> x) {
    const double n = static_cast<double>(x.size());
    return std::pow(*StandardDeviation(x), 2) * (n - 1) / n;
  };
  const BootstrapOptions options = {.level = 0.9, .resamples = 20'000};
  const auto bca = BcaBootstrap(a, variance, options), percentile = PercentileBootstrap(a, variance, options);
  EXPECT_NEAR(bca->expected, 171.5, 0.05);
  EXPECT_NEAR(bca->low, 115.8, 5);
  EXPECT_NEAR(bca->high, 259.6, 5);
  EXPECT_NEAR(percentile->low, 100.8, 5);
  EXPECT_NEAR(percentile->high, 233.9, 5);
}

TEST(BootstrapTest, MovesAndScalesWithTheSample) {
  const auto x = Sample(SimulatedNoise::kLognormal, 25, 3);
  std::vector<double> moved;
  for (const double value : x) moved.push_back(2 * value + 8);
  const auto a = BcaBootstrap(x, MedianOf), b = BcaBootstrap(moved, MedianOf);
  EXPECT_NEAR(b->low, 2 * a->low + 8, 1e-9);
  EXPECT_NEAR(b->high, 2 * a->high + 8, 1e-9);
}

TEST(BootstrapTest, BlocksSeeTheDependence) {
  const auto x = Sample(SimulatedNoise::kAr8, 1000, 4);
  const auto single = PercentileBootstrap(x, MeanOf);
  for (const Blocks blocks : {Blocks::kStationary, Blocks::kMoving}) {
    const auto block = BlockBootstrap(x, MeanOf, blocks);
    const double ratio = (block->high - block->low) / (single->high - single->low);
    EXPECT_GT(ratio, 2);  // the long-run standard deviation is 3 times that of single values
    EXPECT_LT(ratio, 4);
    EXPECT_GT(block->block_length, 5);
  }
}

// Politis and White 2004, section 3.2 with the correction of 2009: (2 G^2 / D)^(1/3) n^(1/3), where for an AR(1) with
// unit variance G = 2 phi / (1 - phi)^2, g(0) = (1 + phi) / (1 - phi), and D = 2 g(0)^2 or 4/3 g(0)^2.
TEST(BootstrapTest, TheOptimalBlockOfAnAr1) {
  double stationary = 0, moving = 0;
  constexpr int kRounds = 20;
  for (uint64_t seed = 0; seed < kRounds; ++seed) {
    const auto x = Sample(SimulatedNoise::kAr5, 5000, 100 + seed);
    stationary += OptimalBlockLength(x, Blocks::kStationary) / kRounds;
    moving += OptimalBlockLength(x, Blocks::kMoving) / kRounds;
  }
  const double g = 2 * 0.5 / 0.25, zero = 3;
  EXPECT_NEAR(stationary, std::cbrt(2 * g * g / (2 * zero * zero) * 5000), 4);
  EXPECT_NEAR(moving, std::cbrt(2 * g * g / (4.0 / 3 * zero * zero) * 5000), 5);
  EXPECT_NEAR(moving / stationary, std::cbrt(1.5), 1e-9);
}

TEST(BootstrapTest, DegenerateSeriesEnd) {
  const std::vector<double> constant(40, 3.0);
  EXPECT_EQ(OptimalBlockLength(constant, Blocks::kMoving), 1);
  EXPECT_EQ(OptimalBlockLength(std::vector<double>{1, 2}, Blocks::kMoving), 1);
  const auto interval = BcaBootstrap(constant, MeanOf);
  EXPECT_EQ(interval->low, 3);
  EXPECT_EQ(interval->high, 3);
  std::vector<double> trend;
  for (int i = 0; i < 60; ++i) trend.push_back(i);
  EXPECT_LE(OptimalBlockLength(trend, Blocks::kMoving), 20);
  EXPECT_TRUE(BlockBootstrap(trend, MeanOf, Blocks::kMoving, 1000));
}

TEST(BootstrapTest, BadInputIsRefused) {
  const std::vector<double> good = {1, 2, 3}, one = {1}, bad = {1, std::nan("")};
  EXPECT_FALSE(PercentileBootstrap(one, MeanOf));
  EXPECT_FALSE(BcaBootstrap(bad, MeanOf));
  EXPECT_FALSE(BlockBootstrap(bad, MeanOf, Blocks::kMoving));
  EXPECT_FALSE(BcaBootstrap(good, MeanOf, {.level = 1}));
  EXPECT_FALSE(BcaBootstrap(good, MeanOf, {.resamples = 10}));
}

}  // namespace
}  // namespace gapless::internal
