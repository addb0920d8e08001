// SPDX-License-Identifier: Apache-2.0
// Tests the search on curves without noise, and the ratios of settings by hand.
#include "optimize/power_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

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
    search.Add({.value = *watts,
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
      const double found = search.Best() ? search.Best()->value : curve.range.usual;
      PowerGoal used = goal;  // of a slowdown a little is left unused
      if (used.most_slowdown) *used.most_slowdown *= 0.9;
      EXPECT_LE(curve.Cost(goal, found), 1.02 * curve.LeastCost(used)) << seed << ", " << found << " W";
    }
  }
}

// Clocks of a board that admits one every 15 MHz: the same curve, with the clock itself in place of the limit. With
// exponent 2 a step costs (idle + dynamic f²) (memory + (1 - memory) / f), which is tried at every admitted clock.
TEST(PowerSearch, NamesOnlyAdmittedClocks) {
  PowerRange range{.low = 210, .high = 1980, .usual = 1980};
  for (double mhz = 210; mhz <= 1980; mhz += 15) range.admitted.push_back(mhz);
  const auto read = [](double mhz) {
    const double clock = mhz / 1980, time = 0.3 + 0.7 / clock;
    return PowerReading{.value = mhz, .energy = (190 + 510 * clock * clock) * time / 700, .time = time};
  };
  for (const auto& slowdown : {std::optional<double>(), std::optional(0.1)}) {
    PowerSearch search(range, {.most_slowdown = slowdown});
    while (const auto mhz = search.Next()) {
      EXPECT_TRUE(std::ranges::binary_search(range.admitted, *mhz)) << *mhz;
      search.Add(read(*mhz));
    }
    EXPECT_LE(search.readings().size(), 7U);
    double least = 1;
    for (const double mhz : range.admitted)
      if (!slowdown || read(mhz).time <= 1 + 0.9 * *slowdown) least = std::min(least, read(mhz).energy);
    ASSERT_TRUE(search.Best());
    EXPECT_LE(search.Best()->energy, 1.02 * least);
    EXPECT_LE(search.Best()->time, 1 + slowdown.value_or(1e9));
  }
}

TEST(PowerRange, FindsWhatIsAdmitted) {
  const PowerRange range{.low = 210, .high = 270, .usual = 270, .admitted = {210, 240, 270}};
  EXPECT_EQ(range.Nearest(224), 210);
  EXPECT_EQ(range.Nearest(226), 240);
  EXPECT_EQ(range.Nearest(1000), 270);
  EXPECT_EQ(range.Between(215, 210, 270), 240);
  EXPECT_EQ(range.Between(255, 210, 270), 240) << "270 is not between";
  EXPECT_EQ(range.Between(205, 210, 270), 240);
  EXPECT_FALSE(range.Between(225, 210, 240));
  const PowerRange whole{.low = 100, .high = 300, .usual = 300};
  EXPECT_EQ(whole.Between(150.2, 100, 300), 151);
  EXPECT_FALSE(whole.Between(150.2, 150, 151));
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
    settings.push_back({.value = 300, .energy = {mean - 0.01, mean + 0.01}, .time = {mean - 0.01, mean + 0.01}});
  const RatioInterval energy = RatioOf(settings[0], settings).energy;
  EXPECT_NEAR(std::log(energy.expected), -0.2, 1e-12);
  EXPECT_NEAR(std::log(*energy.high), -0.2 + 0.03182, 1e-5);
  EXPECT_NEAR(std::log(*energy.low), -0.2 - 0.03182, 1e-5);
}

}  // namespace
}  // namespace gapless::internal
