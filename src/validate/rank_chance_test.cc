// SPDX-License-Identifier: Apache-2.0
// Exact chances of ranks, against counting by hand.
#include "validate/rank_chance.h"

#include <gtest/gtest.h>

#include <vector>

namespace gapless::internal {
namespace {

using RankedValues = std::vector<double>;

RankedValues RankedAscending(size_t count) {
  RankedValues values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

// All three above all ten: one of C(13, 3) = 286 choices of ranks.
TEST(RankChance, ChancesAreExact) {
  EXPECT_DOUBLE_EQ(RankSumChance(RankedAscending(10), RankedValues{20, 21, 22}), 1.0 / 286);
  EXPECT_DOUBLE_EQ(RankSumChance(RankedAscending(10), RankedValues{20}), 1.0 / 11);
  EXPECT_DOUBLE_EQ(RankSumChance(RankedAscending(10), RankedValues{-1}), 1);
  EXPECT_DOUBLE_EQ(RankSumChance(RankedValues{1, 3}, RankedValues{2, 4}), 2.0 / 6) << "4 + 2 or 4 + 3 of 1 to 4";
  EXPECT_EQ(RankSumChance({}, RankedValues{1}), 1);
  EXPECT_EQ(RankSumChance(RankedValues{1}, {}), 1);
}

TEST(RankChance, TiesAreNoEvidence) {
  EXPECT_DOUBLE_EQ(RankSumChance(RankedValues(20, 5.0), RankedValues(6, 5.0)), 1);
  EXPECT_LT(RankSumChance(RankedValues(20, 5.0), RankedValues(6, 5.1)), 1e-5);
}

TEST(RankChance, OnlyTheNewestHundredRunsAreRanked) {
  RankedValues values = RankedAscending(400);
  EXPECT_DOUBLE_EQ(RankSumChance(values, RankedValues{350.5}), RankSumChance(RankedAscending(100), RankedValues{50.5}));
}

// Of 50 + 2 runs the two highest are the new ones with the chance 2/52 * 1/51.
TEST(RankChance, OfRunsAboveAllBefore) {
  EXPECT_DOUBLE_EQ(ExceedanceChance(50, 2, 2), 2.0 / 52 / 51);
  EXPECT_DOUBLE_EQ(ExceedanceChance(50, 2, 1), 2.0 / 52);
  EXPECT_EQ(ExceedanceChance(50, 2, 0), 1);
  EXPECT_EQ(ExceedanceChance(50, 2, 3), 0);
}

}  // namespace
}  // namespace gapless::internal
