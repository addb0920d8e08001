// SPDX-License-Identifier: Apache-2.0
// Tests power and sample sizes against Cohen's tables.
#include "validate/hypothesis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gapless::internal {
namespace {

// Cohen 1988, table 2.4.1 (two-sided 0.05, power 0.80): n a side of two samples for a small, medium and large effect.
TEST(PowerTest, CohensSampleSizes) {
  const PowerOptions two = {.design = Design::kTwoSample, .level = 0.05, .power = 0.8};
  EXPECT_EQ(*NeededN(0.2, 1, two), 394u);  // Cohen's tables round to 393
  EXPECT_EQ(*NeededN(0.5, 1, two), 64u);
  EXPECT_EQ(*NeededN(0.8, 1, two), 26u);
}

TEST(PowerTest, TheThreeQuestionsAgree) {
  for (const Design design : {Design::kPaired, Design::kTwoSample}) {
    const PowerOptions options = {.design = design, .level = 0.05, .power = 0.9};
    const double effect = *MinimumDetectableEffect(2.5, 40, options);
    EXPECT_NEAR(*PowerOf(effect, 2.5, 40, options), 0.9, 1e-9);
    EXPECT_EQ(*NeededN(effect * (1 + 1e-9), 2.5, options), 40u);
    EXPECT_EQ(*NeededN(effect * 0.98, 2.5, options), design == Design::kPaired ? 42u : 42u);
  }
}

TEST(PowerTest, NoEffectIsFoundAsOftenAsFalseAlarmsAre) {
  EXPECT_NEAR(*PowerOf(0, 1, 20, {.level = 0.05}), 0.05, 1e-12);
  EXPECT_NEAR(*PowerOf(0, 1, 20, {.level = 0.01}), 0.01, 1e-12);
}

TEST(PowerTest, ExtremesEnd) {
  EXPECT_EQ(*PowerOf(1e6, 1, 1000), 1);
  EXPECT_EQ(*NeededN(1e9, 1), 2u);
  EXPECT_FALSE(NeededN(1e-6, 1));
  EXPECT_GT(*MinimumDetectableEffect(1, 2, {.level = 0.001, .power = 0.99}), 100);
}

TEST(PowerTest, BadInputIsRefused) {
  EXPECT_FALSE(PowerOf(1, 0, 10));
  EXPECT_FALSE(PowerOf(-1, 1, 10));
  EXPECT_FALSE(PowerOf(std::nan(""), 1, 10));
  EXPECT_FALSE(PowerOf(1, 1, 1));
  EXPECT_FALSE(PowerOf(1, 1, 10, {.level = 0}));
  EXPECT_FALSE(MinimumDetectableEffect(1, 10, {.power = 1}));
  EXPECT_FALSE(NeededN(0, 1, {.power = 0.8}));
}

}  // namespace
}  // namespace gapless::internal
