// SPDX-License-Identifier: Apache-2.0
// Tests trends: steady growth against noise, jumps, phases, outliers.
#include "base/series_trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace gapless::internal {
namespace {

SeriesTrend TrendOfSeries(size_t count, const std::function<double(double)>& value) {
  std::vector<SeriesPoint> points;
  for (size_t i = 0; i < count; ++i) points.push_back({static_cast<double>(i), value(static_cast<double>(i))});
  return TrendOf(points);
}

TEST(Trend, IsThatOfALine) {
  const SeriesTrend trend = TrendOfSeries(200, [](double at) { return 10 + 2 * at; });
  EXPECT_EQ(trend.quarters, (std::array<double, 4>{10 + 2 * 24.5, 10 + 2 * 74.5, 10 + 2 * 124.5, 10 + 2 * 174.5}));
  EXPECT_NEAR(trend.slope, 2, 1e-9);
  EXPECT_EQ(trend.rank, 1);
  EXPECT_TRUE(GrowsSteadily(trend));
}

TEST(Trend, OutliersNeitherMakeNorHideIt) {
  const auto spiky = [](double slope) {
    return TrendOfSeries(400, [=](double at) { return 10 + slope * at + (std::fmod(at, 7) == 3 ? at : 0); });
  };
  EXPECT_FALSE(GrowsSteadily(spiky(0)));
  EXPECT_TRUE(GrowsSteadily(spiky(0.1)));
  EXPECT_NEAR(spiky(0.1).slope, 0.1, 0.01);
}

TEST(Trend, NoiseDoesNotGrow) {
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  std::normal_distribution<double> noise(10, 3);
  int grew = 0;
  for (int i = 0; i < 500; ++i) grew += GrowsSteadily(TrendOfSeries(48, [&](double) { return noise(random); })) ? 1 : 0;
  EXPECT_EQ(grew, 0);
}

TEST(Trend, NeitherDoPhases) {
  EXPECT_FALSE(GrowsSteadily(TrendOfSeries(100, [](double at) { return 20 - at / 10; }))) << "a warm-up";
  EXPECT_FALSE(GrowsSteadily(TrendOfSeries(100, [](double at) { return at < 50 ? 10 : 20; }))) << "one jump";
  EXPECT_FALSE(GrowsSteadily(TrendOfSeries(100, [](double at) { return at < 30 ? 10 : 20 + at / 1000; })));
  EXPECT_FALSE(GrowsSteadily(TrendOfSeries(100, [](double at) { return 10 + 5 * std::sin(at / 5); })));
  EXPECT_FALSE(GrowsSteadily(TrendOfSeries(100, [](double at) { return at < 60 ? at : 60; }))) << "it levels off";
  EXPECT_FALSE(GrowsSteadily(TrendOfSeries(100, [](double) { return 10; })));
}

TEST(Trend, MayBeginAfterTheFirstQuarter) {
  const SeriesTrend trend = TrendOfSeries(100, [](double at) { return at < 25 ? 200 : at; });
  EXPECT_FALSE(GrowsSteadily(trend, 0));
  const SeriesTrend loading = TrendOfSeries(100, [](double at) { return at < 20 ? 50 * at : 1000 + at; });
  EXPECT_FALSE(GrowsSteadily(loading, 0)) << "nearly all of it comes first";
  EXPECT_TRUE(GrowsSteadily(loading, 1));
}

TEST(Trend, IsNoneOfAFewPoints) {
  EXPECT_EQ(TrendOfSeries(7, [](double at) { return at; }).slope, 0);
  EXPECT_FALSE(GrowsSteadily(TrendOfSeries(7, [](double at) { return at; })));
}

}  // namespace
}  // namespace gapless::internal
