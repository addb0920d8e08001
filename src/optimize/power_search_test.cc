// SPDX-License-Identifier: Apache-2.0
// Tests the search on curves without noise, and the ratios of settings by hand.
#include "optimize/power_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optimize/power_blocks.h"
#include "optimize/testing/power_curve.h"

namespace gapless::internal {
namespace {

PowerSearch SearchOn(const PowerCurve& curve, const PowerGoal& goal) {
  PowerSearch search(curve.range, goal);
  search.SetDraw(curve.Watts(curve.range.usual) / curve.range.high);
  while (const auto watts = search.Next()) {
    EXPECT_GE(*watts, curve.range.low);
    EXPECT_LE(*watts, curve.range.high);
    search.Add({.watts = *watts,
                .energy = curve.Joules(*watts) / curve.Joules(curve.range.usual),
                .time = curve.StepSeconds(*watts) / curve.StepSeconds(curve.range.usual)});
  }
  return search;
}

TEST(PowerSearch, FindsTheLeastOfEveryCurveInSevenLimits) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const PowerCurve curve = DrawPowerCurve(random);
    for (const PowerGoal& goal : {PowerGoal{}, PowerGoal{.time_weight = 0.5}, PowerGoal{.most_slowdown = 0.05}}) {
      const PowerSearch search = SearchOn(curve, goal);
      EXPECT_LE(search.readings().size(), 7U);
      const double found = search.Best() ? search.Best()->watts : curve.range.usual;
      PowerGoal used = goal;  // of a slowdown a little is left unused
      if (used.most_slowdown) *used.most_slowdown *= 0.9;
      EXPECT_LE(curve.Cost(goal, found), 1.02 * curve.LeastCost(used)) << seed << ", " << found << " W";
    }
  }
}

TEST(PowerSearch, WhereTheUsualLimitIsBestItSaysSo) {
  const PowerCurve idle_is_dear{.range = {.low = 200, .high = 700, .usual = 700},
                                .idle_w = 190,
                                .dynamic_w = 510,
                                .exponent = 1,
                                .step_s = 1,
                                .memory_share = 0};
  EXPECT_FALSE(SearchOn(idle_is_dear, {}).Best());
}

// Zeus: eta * energy + (1 - eta) * (highest power) * time, Equation 2 of You, Chung and Chowdhury, NSDI 2023.
TEST(PowerSearch, CostIsThatOfZeus) {
  const double highest = 700, usual_joules = 560 * 2.0, usual_s = 2, joules = 800, seconds = 2.5, eta = 0.3;
  const double usual_cost = eta * usual_joules + (1 - eta) * highest * usual_s;
  const double cost = eta * joules + (1 - eta) * highest * seconds;
  EXPECT_NEAR(CostRatio({.time_weight = 1 - eta}, joules / usual_joules, seconds / usual_s, 560 / highest),
              cost / usual_cost, 1e-12);
}

// Three settings of two pairs, each 0.02 apart: the variance is 0.0002 with three degrees of freedom, and Student's
// quantile 3.1824 times its root over 2 is 0.0318.
TEST(PowerRatio, FewPairsShareTheirScatter) {
  std::vector<PowerSetting> settings;
  for (const double mean : {-0.2, -0.1, 0.1})
    settings.push_back({.watts = 300, .energy = {mean - 0.01, mean + 0.01}, .time = {mean - 0.01, mean + 0.01}});
  const RatioInterval energy = RatioOf(settings[0], settings).energy;
  EXPECT_NEAR(std::log(energy.expected), -0.2, 1e-12);
  EXPECT_NEAR(std::log(*energy.high), -0.2 + 0.03182, 1e-5);
  EXPECT_NEAR(std::log(*energy.low), -0.2 - 0.03182, 1e-5);
}

}  // namespace
}  // namespace gapless::internal
