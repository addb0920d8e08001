// SPDX-License-Identifier: Apache-2.0
// Tests the rank tests against published examples and their intervals on simulated samples.
#include "validate/rank_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/hypothesis.h"
#include "validate/simulate.h"

namespace gapless::internal {
namespace {

// Hollander and Wolfe 1999, table 3.1: the Hamilton depression scale before and after a tranquilliser.
const std::vector<double> kBefore = {1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
const std::vector<double> kAfter = {.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};

std::vector<double> Differences() {
  std::vector<double> out;
  for (size_t i = 0; i < kBefore.size(); ++i) out.push_back(kAfter[i] - kBefore[i]);
  return out;
}

TEST(RankTestsTest, HollanderAndWolfesDepressionScale) {
  const auto d = Differences();
  const auto test = SignedRank(d);  // T+ is 5; their P(T+ >= 40) is 0.0195 on one side
  ASSERT_TRUE(test);
  EXPECT_TRUE(test->exact);
  EXPECT_EQ(test->statistic, 5);
  EXPECT_NEAR(test->p, 2 * 0.0195, 1e-4);
  const auto shift = HodgesLehmann(d, 0.96);  // their examples 3.3 and 3.4: -0.46, and (-0.786, -0.010) at 96.1 %
  ASSERT_TRUE(shift && shift->low && shift->high);
  EXPECT_NEAR(shift->estimate, -0.46, 1e-9);
  EXPECT_NEAR(*shift->low, -0.786, 1e-9);
  EXPECT_NEAR(*shift->high, -0.010, 1e-9);
}

TEST(RankTestsTest, AnIntervalThatTooFewValuesCannotGiveIsAbsent) {
  const auto shift = HodgesLehmann(std::vector<double>{1, 2, 3, 4, 5});  // 2 of 32 sign patterns are more than 5 %
  ASSERT_TRUE(shift);
  EXPECT_EQ(shift->estimate, 3);
  EXPECT_FALSE(shift->low || shift->high);
  EXPECT_TRUE(HodgesLehmann(std::vector<double>{1, 2, 3, 4, 5, 6})->low);
  EXPECT_FALSE(HodgesLehmann(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3})->low);
}

// Student's own example, of ten patients (1908): the mean is 1.58, the table gives t = 2.262 for nine degrees of
// freedom.
TEST(RankTestsTest, StudentsIntervalIsThatOfHisSleepers) {
  const std::vector<double> hours = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  const auto shift = StudentShift(hours);
  ASSERT_TRUE(shift && shift->low && shift->high);
  EXPECT_NEAR(shift->estimate, 1.58, 1e-9);
  EXPECT_NEAR(*shift->low, 0.700, 5e-4);
  EXPECT_NEAR(*shift->high, 2.460, 5e-4);
  EXPECT_FALSE(StudentShift(std::vector<double>{1}));
}

// At most 2.5 % of equal commands seem faster by three pairs, whatever the noise: one that is not normal widens it.
TEST(RankTestsTest, StudentsIntervalOfThreePairsKeepsItsLevel) {
  Random random(5);
  for (const SimulatedNoise noise : {SimulatedNoise::kNormal, SimulatedNoise::kLognormal, SimulatedNoise::kOutliers}) {
    int above = 0;
    constexpr int kRounds = 4000;
    for (int i = 0; i < kRounds; ++i) {
      std::vector<double> differences;
      const auto a = Simulate(noise, 3, random), b = Simulate(noise, 3, random);
      for (size_t pair = 0; pair < 3; ++pair) differences.push_back(std::log(a[pair] / b[pair]));
      above += *StudentShift(differences)->low > 0;
    }
    EXPECT_LE(above, 0.032 * kRounds);
  }
}

TEST(RankTestsTest, IntervalsOfTheShiftKeepTheirLevel) {
  Random random(3);
  int one = 0, two = 0;
  constexpr int kRounds = 1000;
  for (int i = 0; i < kRounds; ++i) {
    const auto x = Simulate(SimulatedNoise::kNormal, 8, random), y = Simulate(SimulatedNoise::kNormal, 12, random);
    std::vector<double> around_zero;
    for (const double value : y) around_zero.push_back(value - 100);
    const auto a = HodgesLehmann(around_zero), b = HodgesLehmann(x, y);
    one += *a->low <= 0 && 0 <= *a->high;
    two += *b->low <= 0 && 0 <= *b->high;
  }
  EXPECT_GE(one, 935);  // 95 % or more by construction; four standard errors are 28
  EXPECT_LE(one, 985);
  EXPECT_GE(two, 935);
  EXPECT_LE(two, 985);
}

TEST(RankTestsTest, TheLargeSampleIntervalMeetsTheExactOne) {
  Random random(4);
  auto d = Simulate(SimulatedNoise::kNormal, 50, random);
  const auto exact = HodgesLehmann(d);
  d.push_back(100.0);
  const auto normal = HodgesLehmann(d);
  EXPECT_NEAR(*exact->low, *normal->low, 0.1);
  EXPECT_NEAR(*exact->high, *normal->high, 0.1);
}

TEST(RankTestsTest, SwappingTheSamplesChangesOnlySigns) {
  Random random(5);
  const auto x = Simulate(SimulatedNoise::kLognormal, 9, random), y = Simulate(SimulatedNoise::kLognormal, 14, random);
  EXPECT_DOUBLE_EQ(MannWhitney(x, y)->p, MannWhitney(y, x)->p);
  EXPECT_DOUBLE_EQ(MannWhitney(x, y)->statistic + MannWhitney(y, x)->statistic, 9 * 14);
  EXPECT_NEAR(HodgesLehmann(x, y)->estimate, -HodgesLehmann(y, x)->estimate, 1e-12);
  EXPECT_NEAR(*HodgesLehmann(x, y)->low, -*HodgesLehmann(y, x)->high, 1e-12);
  EXPECT_DOUBLE_EQ(WelchTest(x, y)->statistic, -WelchTest(y, x)->statistic);
  EXPECT_DOUBLE_EQ(WelchTest(x, y)->p, WelchTest(y, x)->p);
}

TEST(RankTestsTest, BadInputIsRefused) {
  const std::vector<double> none, one = {1}, bad = {1, std::nan("")}, zeros = {0, 0}, good = {1, 2, 3};
  EXPECT_FALSE(MannWhitney(none, good));
  EXPECT_FALSE(MannWhitney(bad, good));
  EXPECT_FALSE(SignedRank(zeros));
  EXPECT_FALSE(HodgesLehmann(none));
  EXPECT_FALSE(HodgesLehmann(good, 1.0));
  EXPECT_FALSE(HodgesLehmann(std::vector<double>(7000, 1.0)));
  EXPECT_FALSE(WelchTest(one, good));
  EXPECT_FALSE(WelchTest(zeros, zeros));
  EXPECT_EQ(MannWhitney(zeros, zeros)->p, 1);
}

}  // namespace
}  // namespace gapless::internal
