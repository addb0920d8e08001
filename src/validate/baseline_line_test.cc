// SPDX-License-Identifier: Apache-2.0
// The line of a drift: what stays on it is near, what leaves it is far.
#include "validate/baseline_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

std::vector<double> DriftingRuns(size_t count, double slope, uint64_t seed = 3) {
  std::vector<double> values = NoiseSource(seed).Series(count, 0, 0.01);
  for (size_t i = 0; i < count; ++i) values[i] += slope * static_cast<double>(i);
  return values;
}

TEST(BaselineLine, FollowsADrift) {
  const std::vector<double> all = DriftingRuns(60, 0.002);
  const BaselineLine line = LineThrough(std::span(all).first(55));
  EXPECT_NEAR(line.slope, 0.002, 3 * line.slope_error);
  EXPECT_LT(DistanceFromLine(line, std::span(all).last(5)), 2);
  std::vector<double> slower(all.end() - 5, all.end());
  for (double& value : slower) value += 0.05;
  EXPECT_GT(DistanceFromLine(line, slower), 4.5);
}

// Computed by hand: a run's distance over its error and those of level and slope, three runs after the last of ten; and
// the error of so few runs is itself uncertain.
TEST(BaselineLine, ALineOfFewRunsIsKnownLessWell) {
  const std::vector<double> noise = DriftingRuns(10, 0), slower(5, 0.03);
  const BaselineLine line = LineThrough(noise);
  const double ahead = 4.5 + 3, shift = 0.03 - line.level - line.slope * ahead;
  const double variance = line.noise.MeanVariance(5) + line.noise.MeanVariance(10);
  const double error = std::hypot(line.noise.sd * std::sqrt(variance), line.slope_error * ahead);
  EXPECT_NEAR(DistanceFromLine(line, slower), shift / error / 1.4, 1e-9);
}

TEST(BaselineLine, TheHighestRunGoesUpWithTheLineAndNeverDown) {
  const std::vector<double> up = DriftingRuns(40, 0.01), down = DriftingRuns(40, -0.01);
  EXPECT_GT(HighestAhead(LineThrough(up), up, 7), up.back() + 3 * 0.01);
  EXPECT_EQ(HighestAhead(LineThrough(down), down, 7), *std::ranges::max_element(down));
}

}  // namespace
}  // namespace gapless::internal
