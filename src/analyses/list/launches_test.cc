// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Launches, CallsDelaysAndShortKernels) {
  testing::HandMade trace;
  trace.Step(0, 0, 200'000);
  trace.Kernel("short", {0, 1'000, 3'000, 10'000});       // the device was free: 2 µs after the call
  trace.Kernel("long", {4'000, 8'000, 10'000, 100'000});  // queued behind the first
  testing::Analysed run(trace);
  const auto launches = run["launches"];
  ASSERT_EQ(launches.rows(), 1u);
  EXPECT_EQ(launches.Int(0, "calls"), 2);
  EXPECT_DOUBLE_EQ(launches.Real(0, "calls_per_step"), 2);
  EXPECT_EQ(launches.Int(0, "call_total_ns"), 5'000);
  EXPECT_EQ(launches.Int(0, "call_mean_ns"), 2'500);
  EXPECT_EQ(launches.Int(0, "delay_p95_ns"), 2'000);
  EXPECT_DOUBLE_EQ(launches.Real(0, "queued_share"), 0.5);
  EXPECT_EQ(launches.Int(0, "short_kernels"), 1);
  EXPECT_DOUBLE_EQ(launches.Real(0, "short_kernel_share"), 0.5);
}

TEST(Launches, AGraphIsOneCallWithManyOperations) {
  testing::HandMade trace;
  trace.Kernel("first", {0, 10, 20, 30});
  for (int64_t i = 0; i < 300; ++i) trace.SameLaunch("node", 30 + i, 31 + i);
  testing::Analysed run(trace);
  EXPECT_EQ(run["launches"].Int(0, "calls"), 1);
  EXPECT_EQ(run["launches"].Int(0, "gpu_ops"), 301);
  EXPECT_TRUE(run["launches"].IsNull(0, "calls_per_step")) << "no steps";
}

}  // namespace
}  // namespace gapless::internal
