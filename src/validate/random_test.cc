// SPDX-License-Identifier: Apache-2.0
// Tests the random numbers, the simulated series and the domains of the distributions.
#include "validate/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/dependence.h"
#include "validate/distributions.h"
#include "validate/simulate.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

TEST(RandomTest, TheSeedDecidesOnEveryMachine) {
  Random random(5489);  // the engine's 10,000th draw from this seed is fixed by the C++ standard
  for (int i = 0; i < 9999; ++i) random.Uniform();
  EXPECT_EQ(random.Uniform(), static_cast<double>(9981545732273789042ULL >> 11) * 0x1.0p-53);
}

TEST(RandomTest, IndicesAndNormalsAreDistributedAsSaid) {
  Random random(1);
  std::vector<int> counts(7);
  std::vector<double> normal;
  for (int i = 0; i < 70'000; ++i) {
    ++counts[random.Index(7)];
    normal.push_back(random.Normal());
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
  EXPECT_NEAR(*Mean(normal), 0, 0.02);
  EXPECT_NEAR(*StandardDeviation(normal), 1, 0.02);
  EXPECT_NEAR(*Quantile(normal, 0.975), 1.96, 0.05);
}

TEST(RandomTest, SimulatedSeriesAreWhatTheySay) {
  for (const SimulatedNoise noise : AllNoises()) {
    Random random(2);
    const auto x = Simulate(noise, 400'000, random);
    EXPECT_NEAR(*Mean(x) / TrueMean(noise), 1, 2e-3) << NoiseName(noise);
    EXPECT_NEAR(*Median(x) / TrueMedian(noise), 1, 2e-3) << NoiseName(noise);
    if (noise == SimulatedNoise::kAr9) {
      EXPECT_NEAR(*Lag1(x), 0.9, 0.01);
    }
    if (noise == SimulatedNoise::kAr5) {
      EXPECT_NEAR(*Lag1(x), 0.5, 0.01);
    }
  }
}

TEST(DistributionsTest, OutsideOfTheirDomainsTheyAreNan) {
  EXPECT_TRUE(std::isnan(NormalQuantile(0)));
  EXPECT_TRUE(std::isnan(NormalQuantile(std::nan(""))));
  EXPECT_TRUE(std::isnan(StudentQuantile(0.5, 0)));
  EXPECT_TRUE(std::isnan(StudentCdf(1, -1)));
  EXPECT_TRUE(std::isnan(BinomialCdf(1, -1, 0.5)));
  EXPECT_TRUE(std::isnan(BinomialCdf(1, 2, 1.5)));
  EXPECT_TRUE(std::isnan(BetaCdf(0.5, 0, 1)));
  EXPECT_TRUE(std::isnan(NormalCdf(std::nan(""))));
  EXPECT_EQ(BinomialCdf(-1, 5, 0.5), 0);
  EXPECT_EQ(BinomialCdf(5, 5, 0.5), 1);
}

}  // namespace
}  // namespace gapless::internal
