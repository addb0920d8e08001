// SPDX-License-Identifier: Apache-2.0
// Do new runs agree that the level moved: by their ranks, and by those above every run before.
#include "validate/agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

using Values = std::vector<double>;

Values Ascending(size_t count) {
  Values values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

TEST(Agreement, AShiftMustBeLargeEnoughAndNew) {
  Values values = Values(30, 1.0);
  for (size_t i = 0; i < 30; ++i) values[i] += 0.001 * static_cast<double>(i % 7);
  for (int i = 0; i < 5; ++i) values.push_back(1.2);
  const auto agree = [&](double least) {
    return RunsThatAgree(values, 0, 30, {.chance = 1e-3, .least_shift = least}).has_value();
  };
  EXPECT_TRUE(agree(0.1));
  EXPECT_FALSE(agree(0.3));
  Values drift;
  for (int i = 0; i < 60; ++i) drift.push_back(0.01 * i);
  EXPECT_FALSE(RunsThatAgree(drift, 0, 60, {.chance = 1e-3, .least_shift = 0.15})) << "a drift has not moved since";
}

// Half of the runs are on a machine that is slower by 0.22. A slowdown by 0.1 leaves the others among the runs before.
TEST(Agreement, BetweenTwoMachinesThoseAboveAllBeforeAreSeen) {
  Values values;
  for (size_t i = 0; i < 60; ++i) values.push_back((i % 2 == 0 ? 0 : 0.22) + 0.002 * static_cast<double>((i * 7) % 11));
  const auto agree = [&](double slower) {
    Values all = values;
    for (size_t i = 0; i < 12; ++i)
      all.push_back(slower + (i % 2 == 0 ? 0 : 0.22) + 0.002 * static_cast<double>((i * 5) % 11));
    return RunsThatAgree(all, 0, 60, {.chance = 1.5e-4, .least_shift = 0.05}).has_value();
  };
  EXPECT_TRUE(agree(0.1));
  EXPECT_FALSE(agree(0.03)) << "less than the least shift";
  EXPECT_FALSE(agree(0));
}

// The runs that stand out must have moved, not only be above the others.
TEST(Agreement, AFewSpikesDoNotStandOut) {
  Values values;
  for (size_t i = 0; i < 60; ++i) values.push_back(0.002 * static_cast<double>((i * 7) % 11));
  for (size_t i = 0; i < 12; ++i) values.push_back(i % 4 == 0 ? 0.4 : 0.002 * static_cast<double>(i % 11));
  EXPECT_FALSE(RunsThatAgree(values, 0, 60, {.chance = 0.05, .least_shift = 0.05}));
}

TEST(Agreement, TooShortABaselineNeverAgrees) {
  Values values = Ascending(12);
  EXPECT_FALSE(RunsThatAgree(values, 0, 12, {.chance = 1, .least_baseline = 10}));
  EXPECT_FALSE(Agree(values, 0, 12, 0, {.chance = 1}));
  EXPECT_FALSE(Agree(values, 0, 12, 13, {.chance = 1}));
}

}  // namespace

// Exact chances of ranks, against counting by hand.

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

// The two highest of 50 + 2 runs are the new ones with the chance 2/52 * 1/51.
TEST(RankChance, OfRunsAboveAllBefore) {
  EXPECT_DOUBLE_EQ(ExceedanceChance(50, 2, 2), 2.0 / 52 / 51);
  EXPECT_DOUBLE_EQ(ExceedanceChance(50, 2, 1), 2.0 / 52);
  EXPECT_EQ(ExceedanceChance(50, 2, 0), 1);
  EXPECT_EQ(ExceedanceChance(50, 2, 3), 0);
}

}  // namespace

}  // namespace gapless::internal
