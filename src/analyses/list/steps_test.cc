// SPDX-License-Identifier: Apache-2.0
// Tests table steps: host time, time until the device is done, and busy time.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Steps, HostTimeAndTimeUntilTheDeviceIsDoneDiffer) {
  testing::HandMade trace;
  trace.Step(4, 0, 1000).Kernel("a", {100, 110, 200, 1300}).Step(5, 1000, 2000, false);
  testing::Analysed run(trace);
  const auto steps = run["steps"];
  ASSERT_EQ(steps.rows(), 2u);
  EXPECT_EQ(steps.Int(0, "step"), 4);
  EXPECT_EQ(steps.Text(0, "name"), "ProfilerStep#4");
  EXPECT_EQ(steps.Int(0, "host_dur_ns"), 1000);
  EXPECT_EQ(steps.Int(0, "dur_ns"), 1300);
  EXPECT_EQ(steps.Int(0, "gpu_busy_ns"), 1100);
  EXPECT_NEAR(steps.Real(0, "gpu_busy_share"), 1100.0 / 1300, 1e-12);
  EXPECT_EQ(steps.Text(0, "source"), "profiler");
  EXPECT_EQ(steps.Int(1, "complete"), 0);
  EXPECT_TRUE(steps.IsNull(1, "dur_ns")) << "cut off: nobody knows how long it takes";
}

TEST(Steps, BusyTimeIsTheMeanOfTheDevices) {
  testing::HandMade trace;
  trace.Step(0, 0, 1000).Kernel("a", {0, 1, 100, 500}, {.device = 0}).Kernel("b", {2, 3, 100, 300}, {.device = 1});
  testing::Analysed run(trace);
  EXPECT_EQ(run["steps"].Int(0, "gpu_busy_ns"), 300);
  EXPECT_DOUBLE_EQ(run["steps"].Real(0, "gpu_busy_share"), 0.3);
}

TEST(Steps, WithoutADeviceBusyIsUnknown) {
  testing::HandMade trace;
  trace.Step(0, 0, 1000);
  testing::Analysed run(trace);
  EXPECT_EQ(run["steps"].Int(0, "dur_ns"), 1000);
  EXPECT_TRUE(run["steps"].IsNull(0, "gpu_busy_ns"));
  EXPECT_TRUE(run["steps"].IsNull(0, "gpu_busy_share"));
}

}  // namespace
}  // namespace gapless::internal
