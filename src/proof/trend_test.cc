// SPDX-License-Identifier: Apache-2.0
// Tests levels, commits and drift of simulated histories.
#include "proof/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// The same on every compiler: the mean of twelve uniform numbers, near enough to normal.
double Noise(std::mt19937_64& draw) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(draw() >> 11) * 0x1p-53;
  return sum;
}

// `count` runs around each level, 1 % noise, a commit for every two runs.
Trend Series(std::initializer_list<double> levels, size_t count, std::optional<bool> higher_is_better = {},
             size_t runs_a_commit = 2) {
  std::mt19937_64 draw(11);
  Trend trend{.metric = "m", .higher_is_better = higher_is_better};
  for (const double level : levels)
    for (size_t i = 0; i < count; ++i) {
      const size_t run = trend.points.size();
      trend.points.push_back({.unix_ns = static_cast<int64_t>(run) * 1'000'000'000,
                              .value = level * (1 + 0.01 * Noise(draw)),
                              .commit = StrCat("c", run / runs_a_commit)});
    }
  FindTrend(trend);
  return trend;
}

TEST(TrendTest, ADirectionMakesAChangeBetterOrWorse) {
  const Trend up = Series({100, 110}, 30, true), down = Series({100, 110}, 30, false), none = Series({100, 110}, 30);
  ASSERT_EQ(up.changes.size(), 1U);
  EXPECT_EQ(up.changes[0].index, 30U);
  EXPECT_EQ(KindOf(up, up.changes[0]), TrendChange::kImprovement);
  EXPECT_EQ(KindOf(down, down.changes[0]), TrendChange::kRegression);
  EXPECT_EQ(KindOf(none, none.changes[0]), TrendChange::kChange);
}

TEST(TrendTest, LevelsCoverAllRunsOnce) {
  const Trend trend = Series({100, 120, 90}, 25);
  ASSERT_EQ(trend.levels.size(), 3U);
  EXPECT_EQ(trend.levels.front().begin, 0U);
  EXPECT_EQ(trend.levels[1].begin, trend.levels[0].end);
  EXPECT_EQ(trend.levels[2].begin, trend.levels[1].end);
  EXPECT_EQ(trend.levels.back().end, 75U);
  EXPECT_NEAR(trend.levels[1].value, 120, 1);
}

TEST(TrendTest, CommitsOfAChangeAreThoseAfterTheLastRunBeforeIt) {
  const Trend trend = Series({100, 150}, 30);  // the change is so large that its place is sure
  const ChangePoint& change = trend.changes.at(0);
  ASSERT_EQ(change.first, 30U);
  ASSERT_EQ(change.last, 30U);
  const auto range = CommitsOf(trend, change);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->after, "c14");
  EXPECT_EQ(range->up_to, "c15");
  EXPECT_FALSE(IsWithinOneCommit(trend, change));
}

TEST(TrendTest, AChangeWithinOneCommitIsNotTheCommits) {
  const Trend trend = Series({100, 150}, 30, true, 60);
  EXPECT_FALSE(CommitsOf(trend, trend.changes.at(0)));
  EXPECT_TRUE(IsWithinOneCommit(trend, trend.changes.at(0)));
}

TEST(TrendTest, WithoutCommitsNothingIsSaidOfThem) {
  Trend trend = Series({100, 150}, 30);
  for (TrendPoint& point : trend.points) point.commit.clear();
  EXPECT_FALSE(CommitsOf(trend, trend.changes.at(0)));
  EXPECT_FALSE(IsWithinOneCommit(trend, trend.changes.at(0)));
}

TEST(TrendTest, DriftIsToldWhenItAddsUpToSomething) {
  Trend steep{.metric = "m", .higher_is_better = false}, gentle = steep, flat = steep;
  std::mt19937_64 draw(3);
  for (int i = 0; i < 60; ++i) {
    const double noise = 0.03 * Noise(draw);
    steep.points.push_back({.value = 100 + 0.015 * i + noise});
    gentle.points.push_back({.value = 100 + 0.005 * i + 0.01 * noise});
    flat.points.push_back({.value = 100 + noise});
  }
  FindTrend(steep), FindTrend(gentle), FindTrend(flat);
  ASSERT_TRUE(steep.changes.empty());
  ASSERT_TRUE(DriftWorthTelling(steep));
  EXPECT_NEAR(*DriftWorthTelling(steep), 0.0088, 0.0005);
  EXPECT_EQ(KindOf(steep, *steep.drift), TrendChange::kRegression);
  EXPECT_NEAR(steep.drift_line->from, 100, 0.05);
  EXPECT_NEAR(steep.drift_line->to, 100.885, 0.05);
  ASSERT_TRUE(gentle.drift && gentle.drift->Drifts());
  EXPECT_FALSE(DriftWorthTelling(gentle)) << "0.3 % in all";
  EXPECT_FALSE(DriftWorthTelling(flat));
}

TEST(TrendTest, AFewRunsAtAnotherLevelAreNoDrift) {
  Trend trend{.metric = "m"};
  std::mt19937_64 draw(3);
  for (int i = 0; i < 20; ++i) trend.points.push_back({.value = (i < 16 ? 100 : 110) + 0.05 * Noise(draw)});
  FindTrend(trend);
  EXPECT_TRUE(trend.changes.empty()) << "four runs are no level yet";
  EXPECT_FALSE(DriftWorthTelling(trend));
}

TEST(TrendTest, SmallAndOddSeries) {
  Trend none{.metric = "m"};
  FindTrend(none);
  EXPECT_TRUE(none.changes.empty() && none.levels.empty() && !none.drift);
  Trend one{.metric = "m", .points = {{.value = 5}}};
  FindTrend(one);
  ASSERT_EQ(one.levels.size(), 1U);
  EXPECT_EQ(one.levels[0].value, 5);
  EXPECT_FALSE(DriftWorthTelling(one));
  Trend constant{.metric = "m", .points = std::vector<TrendPoint>(500, {.value = 3.25})};
  FindTrend(constant);
  EXPECT_TRUE(constant.changes.empty());
  EXPECT_FALSE(DriftWorthTelling(constant));
}

TEST(TrendTest, WhatIsNoNumberIsLeftOut) {
  Trend trend = Series({100, 150}, 30);
  trend.points[3].value = std::numeric_limits<double>::quiet_NaN();
  trend.points[40].value = std::numeric_limits<double>::infinity();
  FindTrend(trend);
  EXPECT_EQ(trend.points.size(), 58U);
  ASSERT_EQ(trend.changes.size(), 1U);
  EXPECT_EQ(trend.points[trend.changes[0].index].commit, "c15");
  EXPECT_EQ(trend.levels.back().end, 58U);
}

}  // namespace
}  // namespace gapless::internal
