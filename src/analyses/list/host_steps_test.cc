// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

int64_t PartsOf(const Table& table) {
  int64_t sum = 0;
  for (const std::string_view part :
       {"data_ns", "save_ns", "gc_ns", "compile_ns", "optimizer_ns", "collective_ns", "operator_ns", "python_ns"})
    sum += table.Int(0, part);
  return sum;
}

TEST(HostSteps, EachMomentBelongsToOnePart) {
  HandMade trace;
  trace.Step(0, 0, 1000);
  trace.Loader(0, 300);
  trace.Operator("aten::stack", 100, 200);  // inside the loader: loading
  trace.Operator("aten::mm", 300, 500);
  trace.Operator("aten::copy_", 350, 400);  // inside another operator
  trace.Annotation("Optimizer.step#AdamW.step", 600, 800);
  trace.Operator("aten::mul_", 650, 750);
  trace.Annotation("Python GC", 750, 780);  // strikes within the optimiser
  Analysed run(trace);
  const Table& table = run["host_steps"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "wall_ns"), 1000);
  EXPECT_EQ(table.Int(0, "data_ns"), 300);
  EXPECT_EQ(table.Int(0, "gc_ns"), 30);
  EXPECT_EQ(table.Int(0, "optimizer_ns"), 170);
  EXPECT_EQ(table.Int(0, "operator_ns"), 200);
  EXPECT_EQ(table.Int(0, "python_ns"), 300);
  EXPECT_EQ(PartsOf(table), 1000);
  EXPECT_EQ(table.Int(0, "operators"), 3);
  EXPECT_EQ(table.Int(0, "optimizer_operators"), 1);
  EXPECT_EQ(table.Text(0, "optimizer"), "AdamW");
}

TEST(HostSteps, OnlyCompleteStepsCount) {
  HandMade trace;
  trace.Step(0, 0, 100).Step(1, 100, 200).Step(2, 200, 250, false);
  trace.Operator("aten::mm", 0, 60).Operator("aten::mm", 100, 160).Operator("aten::mm", 200, 250);
  Analysed run(trace);
  const Table& table = run["host_steps"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "steps"), 2);
  EXPECT_EQ(table.Int(0, "wall_ns"), 200);
  EXPECT_EQ(table.Int(0, "operator_ns"), 120);
  EXPECT_EQ(table.Int(0, "operators"), 2);
}

TEST(HostSteps, ProcessesThatUsedADeviceAreInTheLedgerInstead) {
  HandMade trace;
  trace.Step(0, 0, 100);
  trace.Kernel("gemm", {10, 20, 20, 90});
  Analysed run(trace);
  EXPECT_EQ(run["host_steps"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
