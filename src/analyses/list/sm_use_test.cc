// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

GpuOpDraft Blocks(float per_sm, float occupancy = 50, int64_t stream = 7) {
  return {.stream = stream, .occupancy_pct = occupancy, .blocks_per_sm = per_sm};
}

TEST(SmUse, GridsThatRunTogetherAddUpToTheWholeDevice) {
  testing::HandMade trace;
  trace.Step(0, 0, 100'000);
  trace.Kernel("half", {0, 10, 0, 40'000}, Blocks(0.5F, 20));
  trace.Kernel("much", {10, 20, 20'000, 40'000}, Blocks(3, 80, 8));    // with it: 1, not 3.5
  trace.Kernel("short", {20, 30, 50'000, 55'000}, Blocks(0.25F, 20));  // below 10 µs
  testing::Analysed run(trace);
  const auto use = run["sm_use"];
  ASSERT_EQ(use.rows(), 1u);
  EXPECT_DOUBLE_EQ(use.Real(0, "sm_efficiency"), (20'000 * 0.5 + 20'000 + 5'000 * 0.25) / 100'000);
  EXPECT_EQ(use.Int(0, "long_kernel_ns"), 40'000);
  EXPECT_DOUBLE_EQ(use.Real(0, "long_sm_share"), 0.75);
  EXPECT_EQ(use.Int(0, "long_unfilled_ns"), 10'000);
  EXPECT_NEAR(use.Real(0, "occupancy_pct"), (20.0 * 40 + 80 * 20 + 20 * 5) / 65, 1e-9);
}

TEST(SmUse, WhatWasNotRecordedIsNull) {
  testing::HandMade trace;
  trace.Kernel("kernel", {0, 10, 20, 50'000});
  testing::Analysed run(trace);
  for (const std::string_view column : {"sm_efficiency", "occupancy_pct", "long_sm_share", "long_kernel_ns"})
    EXPECT_TRUE(run["sm_use"].IsNull(0, column)) << column;
  EXPECT_EQ(run["sm_use"].Real(0, "coverage_share"), 0);
}

}  // namespace
}  // namespace gapless::internal
