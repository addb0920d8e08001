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
}  // namespace gapless::internal
