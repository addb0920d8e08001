// SPDX-License-Identifier: Apache-2.0
// Tests table recorded: counts of a small recording, and a recording that only shows a start.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(Recorded, CountsWhatARecordingHolds) {
  HandMade trace;
  trace.Rank(3).Operator("aten::cudnn_convolution", 0, 20 * kUs);
  trace.Kernel("conv", {2 * kUs, 4 * kUs, 10 * kUs, 60 * kUs});
  trace.Call("cudaLaunchKernel", ApiKind::kKernelLaunch, 70 * kUs, 75 * kUs);  // its kernel is missing
  Analysed run(trace);
  const auto table = run["recorded"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "rank"), 3);
  EXPECT_EQ(table.Int(0, "devices"), 1);
  EXPECT_EQ(table.Int(0, "events"), 4);
  EXPECT_EQ(table.Int(0, "gpu_operations"), 1);
  EXPECT_EQ(table.Int(0, "busy_ns"), 50 * kUs);
  EXPECT_EQ(table.Int(0, "recorded_ns"), 75 * kUs);
  EXPECT_EQ(table.Int(0, "launches"), 2);
  EXPECT_EQ(table.Int(0, "launches_done"), 1);
  EXPECT_EQ(table.Text(0, "device_operator"), "aten::cudnn_convolution");
  EXPECT_EQ(table.Int(0, "only_starts"), 0);
}

TEST(Recorded, AnOperatorThatAsksForTheDeviceUsesNone) {
  HandMade trace;
  trace.Operator("aten::cudnn_is_acceptable", 0, kUs);
  Analysed run(trace);
  EXPECT_TRUE(run["recorded"].IsNull(0, "device_operator"));
}

}  // namespace
}  // namespace gapless::internal
