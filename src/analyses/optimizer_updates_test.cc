// SPDX-License-Identifier: Apache-2.0
// Tests OptimizerUpdates with and without a closure, with several closure calls, and in the analyses that use it.
#include "analyses/optimizer_updates.h"

#include <gtest/gtest.h>

#include "analyses/surroundings.h"
#include "analyses/testing/hand_made.h"
#include "analyses/work_type.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr std::string_view kNode = "autograd::engine::evaluate_function: AddmmBackward0";

// An operator as it is recorded where gradients are computed: with a sequence number.
void Forward(HandMade& trace, int64_t start, int64_t end) {
  trace.shard().Add(SliceRow{.name = trace.shard().Text("aten::linear"),
                             .category = SliceCategory::kOperator,
                             .pid = 1,
                             .tid = testing::kMain,
                             .ts_ns = start,
                             .dur_ns = end - start,
                             .sequence = 7});
}

// A step of Adam with a closure: clears, runs forward and backward for 800 ns, and updates for 100.
void AddStepWithClosure(HandMade& trace, int64_t backward_thread = testing::kMain) {
  trace.Step(0, 0, 1'000).Annotation("Optimizer.step#Adam.step", 50, 1'000);
  trace.Annotation("Optimizer.zero_grad#Adam.zero_grad", 60, 90).Operator("aten::zero_", 70, 80);
  Forward(trace, 100, 400);
  trace.Operator(kNode, 420, 700, backward_thread).Operator("aten::mm", 430, 690, backward_thread);
  trace.Operator(kNode, 710, 900, backward_thread);
  trace.Operator("aten::add_", 910, 990);
}

TEST(OptimizerUpdates, WithoutAClosureTheWholeStepIsTheUpdate) {
  HandMade trace;
  trace.Operator(kNode, 0, 400).Annotation("Optimizer.step#SGD.step", 500, 900).Operator("aten::add_", 510, 520);
  const auto made = trace.Finish();
  const OptimizerUpdates updates(*made);
  ASSERT_EQ(updates.all().size(), 1U);
  EXPECT_EQ(updates.all()[0].own, (Intervals{{500, 900}}));
}

TEST(OptimizerUpdates, BehindTheClosureIsTheUpdate) {
  for (const int64_t thread : {testing::kMain, testing::kBackward}) {
    HandMade trace;
    AddStepWithClosure(trace, thread);
    const auto made = trace.Finish();
    const OptimizerUpdates updates(*made);
    ASSERT_EQ(updates.all().size(), 1U);
    EXPECT_EQ(updates.all()[0].own, (Intervals{{900, 1'000}}));
    const std::vector<uint8_t> inside = InsideOptimizers(*made), around = Surroundings(*made);
    for (uint32_t row = 0; row < made->slices.size(); ++row) {
      const std::string_view name = made->Text(made->slices.name[row]);
      EXPECT_EQ(inside[row] != 0, name == "aten::add_") << name;
      const bool clears = name == "aten::zero_" || name.starts_with("Optimizer.zero_grad");
      EXPECT_EQ((around[row] & kInOptimizer) != 0, name == "aten::add_" || clears) << name;
    }
  }
}

TEST(OptimizerUpdates, AnOptimiserThatCallsItsClosureAgainUpdatesInBetween) {
  for (const bool clears : {true, false}) {
    HandMade trace;
    trace.Annotation("Optimizer.step#LBFGS.step", 0, 1'000);
    Forward(trace, 10, 100);
    trace.Operator(kNode, 110, 200);
    trace.Operator("aten::dot", 250, 280);  // the direction
    if (clears) trace.Annotation("Optimizer.zero_grad#LBFGS.zero_grad", 300, 310);
    Forward(trace, 320, 400);
    trace.Operator(kNode, 410, 500).Operator(kNode, 510, 600);
    const auto made = trace.Finish();
    const OptimizerUpdates updates(*made);
    EXPECT_EQ(updates.all()[0].own, (Intervals{{200, clears ? 300 : 320}, {600, 1'000}}));
  }
}

TEST(OptimizerUpdates, WhatCannotBeToldIsNotTheUpdate) {
  HandMade trace;  // without sequence numbers
  trace.Annotation("Optimizer.step#LBFGS.step", 0, 1'000).Operator(kNode, 110, 200);
  trace.Operator("aten::dot", 250, 280).Operator("aten::linear", 300, 400).Operator(kNode, 410, 500);
  const auto made = trace.Finish();
  EXPECT_EQ(OptimizerUpdates(*made).all()[0].own, (Intervals{{500, 1'000}}));
}

TEST(OptimizerUpdates, TheHostsStepsGiveTheClosureItsOwnTime) {
  HandMade trace;
  AddStepWithClosure(trace);
  Analysed run(trace);
  const auto host = run["host_steps"];
  ASSERT_EQ(host.rows(), 1U);
  EXPECT_EQ(host.Int(0, "optimizer_ns"), 100);
  EXPECT_EQ(host.Int(0, "optimizer_operators"), 1);
  EXPECT_EQ(host.Int(0, "operator_ns"), 10 + 300 + 280 + 190);
  EXPECT_EQ(host.Text(0, "optimizer"), "Adam");
}

TEST(OptimizerUpdates, KernelsOfTheClosureAreNotTheOptimisers) {
  HandMade trace;
  AddStepWithClosure(trace);
  trace.Kernel("gemm", {200, 210, 220, 400}).Kernel("update", {920, 930, 940, 960});
  Analysed run(trace);
  const auto steps = run["optimizer_steps"];
  EXPECT_EQ(testing::IntWhere(steps, "name", "Optimizer.step#Adam.step", "kernels"), 1);
  EXPECT_EQ(testing::IntWhere(steps, "name", "Optimizer.step#Adam.step", "host_ns"), 100);
  EXPECT_EQ(testing::IntWhere(steps, "name", "Optimizer.step#Adam.step", "calls"), 1);
  EXPECT_EQ(testing::IntWhere(steps, "name", "Optimizer.zero_grad#Adam.zero_grad", "host_ns"), 30);
}

}  // namespace
}  // namespace gapless::internal
