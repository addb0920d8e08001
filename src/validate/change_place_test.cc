// SPDX-License-Identifier: Apache-2.0
// Tests the most likely place of a change and the coverage of its interval.
#include "validate/change_place.h"

#include <gtest/gtest.h>

#include <cmath>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

TEST(StretchSums, AreTheSumsOfTheirDefinitions) {
  const std::vector<double> y = {3, 1, 4, 1, 5, 9, 2, 6};
  const StretchSums sums(y);
  EXPECT_DOUBLE_EQ(sums.Mean(2, 5), 10.0 / 3);
  EXPECT_NEAR(sums.Scatter(2, 5), 16 + 1 + 25 - 100.0 / 3, 1e-12);
  double expected = 0;
  for (size_t i = 3; i < 7; ++i) expected += std::pow((y[i] - 2) - 0.4 * (y[i - 1] - 2), 2);
  EXPECT_NEAR(sums.Innovations(2, 7, 2, 0.4), expected, 1e-12);
}

TEST(ChangePlace, AClearStepIsAtItsIndexWhateverTheGuess) {
  std::vector<double> y = NoiseSource(7).Series(100, 0, 1);
  for (size_t i = 43; i < 100; ++i) y[i] += 8;
  const ChangePlace place = FindPlace(y, StretchSums(y), {1, 0}, {0, 50, 100, 5, 5});
  EXPECT_EQ(place.index, 43u);
  EXPECT_EQ(place.first, 43u);
  EXPECT_EQ(place.last, 43u);
  EXPECT_GT(place.share, 0.99);
}

// The interval is one: it holds the true place about as often as it says.
TEST(ChangePlace, TheIntervalHoldsTheTruePlaceNineTimesInTen) {
  int held = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const double phi = seed % 2 == 0 ? 0 : 0.5;
    std::vector<double> y = NoiseSource(seed).Series(120, 0, 1, phi);
    for (size_t i = 60; i < 120; ++i) y[i] += phi > 0 ? 2 : 1.5;
    const ChangePlace place = FindPlace(y, StretchSums(y), {1, phi}, {0, 60, 120, 5, 5});
    held += place.first <= 60 && 60 <= place.last ? 1 : 0;
  }
  EXPECT_GE(held, 360);
  EXPECT_LE(held, 398);
}

TEST(ChangePlace, AStretchTooShortForTwoLevelsKeepsTheGuess) {
  const std::vector<double> y = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(FindPlace(y, StretchSums(y), {1, 0}, {0, 3, 6, 5, 5}).index, 3u);
}

}  // namespace
}  // namespace gapless::internal
