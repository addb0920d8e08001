// SPDX-License-Identifier: Apache-2.0
// Tests table optimizer_steps: for-loop, foreach and fused optimisers, and zero_grad.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

// A step in which SGD runs `calls` operators, one kernel each, 1 µs apart; the device is free in between.
void Step(HandMade& trace, int64_t number, std::string_view op, int64_t calls) {
  const int64_t t = number * 100'000;
  trace.Step(number, t, t + 100'000).Kernel("gemm", {t, t + 100, t + 200, t + 40'000});
  trace.Annotation("Optimizer.step#SGD.step", t + 50'000, t + 90'000);
  for (int64_t i = 0; i < calls; ++i) {
    const int64_t at = t + 50'000 + i * 1'000;
    trace.Operator(op, at, at + 900).Kernel("kernel", {at + 100, at + 200, at + 300, at + 800});
  }
}

TEST(OptimizerSteps, ALoopRunsOneOperatorForEachParameter) {
  HandMade trace;
  for (int64_t step = 0; step < 2; ++step) Step(trace, step, "aten::add_", 20);
  testing::Analysed run(trace);
  const auto steps = run["optimizer_steps"];
  ASSERT_EQ(steps.rows(), 1u);
  EXPECT_EQ(steps.Text(0, "name"), "Optimizer.step#SGD.step");
  EXPECT_EQ(steps.Text(0, "implementation"), "loop");
  EXPECT_EQ(steps.Int(0, "calls"), 2);
  EXPECT_EQ(steps.Int(0, "host_ns"), 80'000);
  EXPECT_EQ(steps.Int(0, "kernels"), 40);
  EXPECT_DOUBLE_EQ(steps.Real(0, "kernels_per_call"), 20);
  EXPECT_EQ(steps.Int(0, "tensors"), 20);
  EXPECT_EQ(steps.Int(0, "device_ns"), 40 * 500);
  EXPECT_EQ(steps.Int(0, "idle_ns"), 2 * (40'000 - 20 * 500));
}

TEST(OptimizerSteps, ListsAndFusedKernelsAreTold) {
  for (const auto& [op, way] : {std::pair{"aten::_foreach_add_", "foreach"}, {"aten::_fused_sgd_", "fused"}}) {
    HandMade trace;
    Step(trace, 0, op, 1);
    testing::Analysed run(trace);
    EXPECT_EQ(run["optimizer_steps"].Text(0, "implementation"), way);
    EXPECT_TRUE(run["optimizer_steps"].IsNull(0, "tensors"));
  }
}

TEST(OptimizerSteps, WithoutKernelsTheWayIsNotKnown) {
  HandMade trace;
  Step(trace, 0, "aten::add_", 0);
  testing::Analysed run(trace);
  EXPECT_TRUE(run["optimizer_steps"].IsNull(0, "implementation"));
  EXPECT_EQ(run["optimizer_steps"].Int(0, "device_ns"), 0);
}

TEST(OptimizerSteps, FillingGradientsWithZerosIsLookedAtToo) {
  HandMade trace;
  trace.Kernel("gemm", {0, 10, 20, 1'000}).Annotation("Optimizer.zero_grad#SGD.zero_grad", 1'000, 3'000);
  trace.Operator("aten::zero_", 1'000, 1'900).Kernel("fill", {1'100, 1'200, 1'300, 1'800});
  trace.Kernel("next", {3'000, 3'010, 3'020, 4'000});
  testing::Analysed run(trace);
  ASSERT_EQ(run["optimizer_steps"].rows(), 1u);
  EXPECT_EQ(run["optimizer_steps"].Int(0, "kernels"), 1);
  EXPECT_EQ(run["optimizer_steps"].Int(0, "idle_ns"), 2'000 - 500);
}

}  // namespace
}  // namespace gapless::internal
