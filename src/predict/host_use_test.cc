// SPDX-License-Identifier: Apache-2.0
// Tests the shares of host time on small hand-made recordings.
#include "predict/host_use.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

HostShares Of(HandMade& trace) { return HostSharesOf(Run({trace.Finish()})); }

TEST(HostShares, OperatorsAreLargeFromTheTimeThatPyTorchSplits) {
  HandMade trace;
  trace.Step(0, 0, 1'000'000);
  trace.Operator("aten::mm", 0, 400'000);
  trace.Operator("aten::add", 400'000, 500'000);
  trace.Operator("aten::linear", 600'000, 900'000);
  trace.Operator("aten::addmm", 650'000, 900'000);  // inside the one before, whose own time is small then
  const HostShares shares = Of(trace);
  EXPECT_DOUBLE_EQ(shares.large_operators.value_or(-1), 0.65);
  EXPECT_DOUBLE_EQ(shares.small_operators.value_or(-1), 0.15);
  EXPECT_FALSE(shares.loader_wait) << "the recorder does not time waits for batches";
}

TEST(HostShares, LayersOfImagesAndTheirGradients) {
  HandMade trace;
  trace.Step(0, 0, 1'000'000);
  trace.Operator("aten::mkldnn_convolution", 0, 300'000);
  trace.Operator("aten::convolution_backward", 300'000, 500'000);
  trace.Operator("aten::native_batch_norm", 500'000, 600'000);
  trace.Operator("aten::max_pool2d_with_indices", 600'000, 700'000);
  trace.Operator("aten::native_layer_norm", 700'000, 800'000).Operator("aten::mm", 800'000, 900'000);
  EXPECT_DOUBLE_EQ(Of(trace).image_layers.value_or(-1), 0.7);
}

TEST(HostShares, AnInterruptedOperatorIsNoLargeOne) {
  HandMade trace;
  trace.Step(0, 0, 1'000'000);
  trace.Operator("aten::mm", 0, 100'000).Operator("aten::mm", 100'000, 200'000);
  trace.Operator("aten::mm", 200'000, 700'000);  // another process had the processor
  const HostShares shares = Of(trace);
  EXPECT_DOUBLE_EQ(shares.large_operators.value_or(-1), 0);
  EXPECT_DOUBLE_EQ(shares.small_operators.value_or(-1), 0.7);
}

TEST(HostShares, WaitsForBatchesAreThoseThatTheAgentTimed) {
  HandMade agent;
  agent.AgentStep(0, 0, 1000, 300).AgentStep(1, 1000, 3000, 600).AgentStep(2, 3000, 9000, kAbsent);
  const HostShares shares = Of(agent);
  EXPECT_DOUBLE_EQ(shares.loader_wait.value_or(-1), 0.3);
  EXPECT_FALSE(shares.small_operators);
}

TEST(HostShares, OperatorsThatOnlyLaunchWorkOfADeviceAreNotSplit) {
  HandMade trace;
  trace.Step(0, 0, 1'000'000).Operator("aten::mm", 0, 400'000);
  trace.Kernel("gemm", {100, 200, 300, 400});
  EXPECT_FALSE(Of(trace).large_operators);
}

}  // namespace
}  // namespace gapless::internal
