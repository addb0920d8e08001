// SPDX-License-Identifier: Apache-2.0
// Tests the summary statistics against definitions by hand.
#include "validate/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "validate/simulate.h"

namespace gapless::internal {
namespace {

TEST(SummaryTest, DefinitionsByHand) {
  const std::vector<double> x = {4, 1, 3, 2, 100};
  const auto s = Summarize(x);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->n, 5u);
  EXPECT_DOUBLE_EQ(*s->mean, 22);
  EXPECT_DOUBLE_EQ(*s->median, 3);
  EXPECT_DOUBLE_EQ(*s->mad, 1.4826022185056018);  // deviations 1 2 0 1 97
  EXPECT_DOUBLE_EQ(*s->p25, 2);
  EXPECT_DOUBLE_EQ(*s->min, 1);
  EXPECT_DOUBLE_EQ(*s->max, 100);
  EXPECT_NEAR(*s->variation, *s->sd / 22, 1e-15);
}

TEST(SummaryTest, WhatIsNotDefinedIsAbsent) {
  const auto none = Summarize({});
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->mean || none->sd || none->median || none->mad || none->p99);
  const auto one = Summarize(std::vector<double>{7});
  EXPECT_EQ(one->median, 7);
  EXPECT_FALSE(one->sd);
  EXPECT_FALSE(one->variation);
  const auto around_zero = Summarize(std::vector<double>{-1, 1});
  EXPECT_FALSE(around_zero->variation);
  EXPECT_FALSE(Quantile(std::vector<double>{1, 2}, 1.5));
}

TEST(SummaryTest, WhatIsNotFiniteIsRefusedWithItsPlace) {
  const auto s = Summarize(std::vector<double>{1, 2, std::nan("")});
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().message.find("value 2"), std::string::npos);
  EXPECT_FALSE(Summarize(std::vector<double>{std::numeric_limits<double>::infinity()}));
}

TEST(SummaryTest, AnOffsetCostsNoDigits) {
  const std::vector<double> x = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};  // the example of Chan, Golub and LeVeque
  EXPECT_DOUBLE_EQ(*Mean(x), 1e9 + 10);
  EXPECT_DOUBLE_EQ(*StandardDeviation(x), std::sqrt(30));
}

TEST(SummaryTest, MovesAndScalesWithTheSample) {
  Random random(1);
  const auto x = Simulate(SimulatedNoise::kLognormal, 101, random);
  std::vector<double> moved, reversed(x.rbegin(), x.rend());
  for (const double value : x) moved.push_back(3 * value + 50);
  const auto a = *Summarize(x), b = *Summarize(moved), c = *Summarize(reversed);
  EXPECT_NEAR(*b.mean, 3 * *a.mean + 50, 1e-9);
  EXPECT_NEAR(*b.sd, 3 * *a.sd, 1e-9);
  EXPECT_NEAR(*b.median, 3 * *a.median + 50, 1e-9);
  EXPECT_NEAR(*b.mad, 3 * *a.mad, 1e-9);
  EXPECT_NEAR(*b.p95, 3 * *a.p95 + 50, 1e-9);
  EXPECT_NEAR(*c.mean, *a.mean, 1e-12);
  EXPECT_EQ(c.p5, a.p5);
}

TEST(Summary, MedianOfEvenAndOdd) {
  std::vector<double> odd = {3, 1, 2}, even = {4, 1, 3, 2};
  EXPECT_EQ(MedianInPlace(odd), 2);
  EXPECT_EQ(MedianInPlace(even), 2.5);
  EXPECT_EQ(MedianInPlace({}), 0);
}

}  // namespace
}  // namespace gapless::internal
