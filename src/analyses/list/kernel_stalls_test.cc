// SPDX-License-Identifier: Apache-2.0
// Tests table kernel_stalls by hand.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;

TEST(KernelStalls, SharesOfTheCyclesBetweenTwoInstructions) {
  TraceBuilder builder;
  const auto add = [&](std::string_view reason, double cycles) {
    builder.AddKernelMetric(
        {.kernel_name = "k",
         .launch_index = 2,
         .metric = "smsp__average_warps_issue_stalled_" + std::string(reason) + "_per_issue_active.ratio",
         .value = cycles});
  };
  add("selected", 1), add("long_scoreboard", 6), add("wait", 3), add("barrier", 0), add("wait_not_issued", 2);
  Analysed run({std::make_shared<const Trace>(std::move(builder).Finish())});
  const auto table = run["kernel_stalls"];
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.Text(0, "stall"), "long_scoreboard");
  EXPECT_NEAR(table.Real(0, "share"), 0.6, 1e-9);
  EXPECT_EQ(table.Text(1, "waits_for"), "a fixed delay of its instruction");
  EXPECT_TRUE(table.IsNull(2, "waits_for")) << "it goes on";
}

}  // namespace
}  // namespace gapless::internal
