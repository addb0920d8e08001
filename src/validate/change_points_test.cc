// SPDX-License-Identifier: Apache-2.0
// Tests the detection of level changes with outliers, autocorrelation, ties and absent values.
#include "validate/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

std::vector<double> Stepped(std::vector<double> values, size_t from, double factor) {
  for (size_t i = from; i < values.size(); ++i) values[i] *= factor;
  return values;
}

TEST(ChangePoints, OneStepIsFoundWithItsLevels) {
  const auto found = FindChangePoints(Stepped(NoiseSource(1).Series(200, 100, 1), 120, 1.1));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 120u);
  EXPECT_LE(found[0].first, 120u);
  EXPECT_GE(found[0].last, 120u);
  EXPECT_NEAR(found[0].before, 100, 0.5);
  EXPECT_NEAR(found[0].after, 110, 0.5);
  ASSERT_TRUE(found[0].relative_change);
  EXPECT_NEAR(*found[0].relative_change, 0.1, 0.01);
  EXPECT_GT(found[0].deviations, 20);
}

TEST(ChangePoints, OutliersAreNoLevels) {
  std::vector<double> values = NoiseSource(2).Series(200, 100, 1);
  for (const size_t i : {20u, 21u, 90u, 150u, 151u, 152u, 199u}) values[i] = 160;
  EXPECT_TRUE(FindChangePoints(values).empty());
}

TEST(ChangePoints, DependenceIsNoLevel) {
  int series_with_any = 0;
  for (uint64_t seed = 0; seed < 200; ++seed)
    series_with_any += FindChangePoints(NoiseSource(seed).Series(200, 100, 2, 0.5)).empty() ? 0 : 1;
  EXPECT_LE(series_with_any, 8);
}

TEST(ChangePoints, NoNoiseAtAll) {
  EXPECT_TRUE(FindChangePoints(std::vector<double>(300, 42)).empty());
  EXPECT_TRUE(FindChangePoints(std::vector<double>(300, 0)).empty());
  const auto step = FindChangePoints(Stepped(std::vector<double>(300, 42), 100, 1.02));
  ASSERT_EQ(step.size(), 1u);
  EXPECT_EQ(step[0].index, 100u);
}

TEST(ChangePoints, FlickerBetweenTwoTicksOfAClockIsNoChange) {
  for (const double share : {0.05, 0.3, 0.5}) {
    NoiseSource noise(3);
    std::vector<double> values;
    for (int i = 0; i < 500; ++i) values.push_back(noise.Uniform() < share ? 101 : 100);
    EXPECT_TRUE(FindChangePoints(values).empty()) << share;
  }
}

TEST(ChangePoints, QuantisedLevelsAreFound) {
  std::vector<double> values = Stepped(NoiseSource(4).Series(300, 100, 0.6), 150, 1.03);
  for (double& v : values) v = std::round(v);
  const auto found = FindChangePoints(values);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(static_cast<double>(found[0].index), 150, 2);
}

TEST(ChangePoints, AbsentValuesAreSkippedAndCounted) {
  std::vector<double> values = Stepped(NoiseSource(5).Series(200, 100, 1), 120, 1.1);
  for (size_t i = 0; i < 200; i += 7) values[i] = i % 2 == 0 ? std::nan("") : std::numeric_limits<double>::infinity();
  const auto found = FindChangePoints(values);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 120u);
}

TEST(ChangePoints, ALevelOfZeroHasNoRelativeChange) {
  std::vector<double> values(100, 0);
  for (size_t i = 50; i < 100; ++i) values[i] = 3;
  const auto found = FindChangePoints(values);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].relative_change);
}

TEST(ChangePoints, ShortAndEmptySeriesHaveNone) {
  EXPECT_TRUE(FindChangePoints({}).empty());
  EXPECT_TRUE(FindChangePoints(std::vector<double>{1, 2, 1, 2, 9, 9, 9}).empty());
  EXPECT_TRUE(FindChangePoints(std::vector<double>(20, std::nan(""))).empty());
}

TEST(ChangePoints, ANoisyStretchDoesNotBreakIntoPieces) {
  NoiseSource noise(6);
  std::vector<double> values = noise.Series(400, 100, 0.2);
  const std::vector<double> wild = noise.Series(200, 100, 4);
  values.insert(values.end(), wild.begin(), wild.end());
  EXPECT_LE(FindChangePoints(values).size(), 2u);
}

TEST(ChangePoints, ScaleAndSignDoNotMatter) {
  const std::vector<double> values = Stepped(NoiseSource(8).Series(200, 100, 2), 80, 1.05);
  const auto found = FindChangePoints(values);
  ASSERT_FALSE(found.empty());
  for (const double factor : {1e-9, -1.0, 1e12}) {
    std::vector<double> scaled = values;
    for (double& v : scaled) v *= factor;
    const auto again = FindChangePoints(scaled);
    ASSERT_EQ(again.size(), found.size()) << factor;
    EXPECT_EQ(again[0].index, found[0].index);
  }
}

}  // namespace
}  // namespace gapless::internal
