// SPDX-License-Identifier: Apache-2.0
// Tests the partition against an exhaustive search.
#include "validate/optimal_partition.h"

#include <gtest/gtest.h>

#include <limits>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

double Scatter(std::span<const double> values) {
  double mean = 0, scatter = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) scatter += (v - mean) * (v - mean);
  return scatter;
}

// The definition, tried over all last changes.
std::vector<size_t> Exhaustive(std::span<const double> values, double penalty) {
  std::vector<double> best(values.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<size_t> from(values.size() + 1);
  best[0] = -penalty;
  for (size_t t = 1; t <= values.size(); ++t)
    for (size_t s = 0; s < t; ++s) {
      const double cost = best[s] + penalty + Scatter(values.subspan(s, t - s));
      if (cost < best[t]) best[t] = cost, from[t] = s;
    }
  std::vector<size_t> starts;
  for (size_t t = from[values.size()]; t > 0; t = from[t]) starts.insert(starts.begin(), t);
  return starts;
}

TEST(OptimalPartition, CutsWhereTheLevelChanges) {
  EXPECT_EQ(OptimalPartition(std::vector<double>{0, 0, 0, 5, 5, 5, 1, 1}, 2), (std::vector<size_t>{3, 6}));
}

TEST(OptimalPartition, FindsWhatTryingAllPartitionsFinds) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    NoiseSource noise(seed);
    std::vector<double> values = noise.Series(60, 0, 1, seed % 3 == 0 ? 0.5 : 0);
    for (size_t i = 20; i < 20 + seed % 30; ++i) values[i] += static_cast<double>(seed % 5);
    for (const double penalty : {0.5, 3.0, 12.0})
      EXPECT_EQ(OptimalPartition(values, penalty), Exhaustive(values, penalty)) << seed;
  }
}

TEST(OptimalPartition, ASeriesWithoutNoiseHasNoChange) {
  EXPECT_TRUE(OptimalPartition(std::vector<double>(1000, 7.5), 1).empty());
  EXPECT_TRUE(OptimalPartition(std::vector<double>{1}, 1).empty());
  EXPECT_TRUE(OptimalPartition({}, 1).empty());
}

}  // namespace
}  // namespace gapless::internal
