// SPDX-License-Identifier: Apache-2.0
#include "store/metric_traits.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(MetricTraitsTest, NamesEndWithTheirUnit) {
  EXPECT_EQ(TraitsOf("step_time_p50_ms").unit, "ms");
  EXPECT_EQ(TraitsOf("step_time_p50_ms").higher_is_better, false);
  EXPECT_EQ(TraitsOf("samples_per_second").unit, "1/s");
  EXPECT_EQ(TraitsOf("samples_per_second").higher_is_better, true);
  EXPECT_EQ(TraitsOf("tokens_per_s").higher_is_better, true) << "a rate, no time";
  EXPECT_EQ(TraitsOf("epoch_s").higher_is_better, false);
  EXPECT_EQ(TraitsOf("gpu_utilization").higher_is_better, true);
  EXPECT_EQ(TraitsOf("memory_usage_gb").higher_is_better, false);
  EXPECT_EQ(TraitsOf("joules_per_step").higher_is_better, false);
  EXPECT_EQ(TraitsOf("samples_per_joule").higher_is_better, true);
}

TEST(MetricTraitsTest, WhatANameDoesNotTellIsAbsent) {
  EXPECT_EQ(TraitsOf("padding_pct").unit, "%");
  EXPECT_FALSE(TraitsOf("padding_pct").higher_is_better) << "of what?";
  for (const char* name : {"", "loss", "s", "items"}) {
    EXPECT_EQ(TraitsOf(name).unit, "") << name;
    EXPECT_FALSE(TraitsOf(name).higher_is_better) << name;
  }
}

}  // namespace
}  // namespace gapless::internal
