// SPDX-License-Identifier: Apache-2.0
// Tests table operators: self and total device time, and nested operators of the same name.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::IntWhere;

TEST(Operators, DeviceTimeIsTheirOwnAndWithTheirChildren) {
  testing::HandMade trace;
  trace.Operator("aten::linear", 0, 100).Operator("aten::addmm", 10, 60);
  trace.Kernel("gemm", {20, 30, 200, 500}, {.op_class = GpuOpClass::kGemm});       // in addmm
  trace.Kernel("bias", {70, 80, 500, 550}, {.op_class = GpuOpClass::kPointwise});  // in linear
  testing::Analysed run(trace);
  const auto operators = run["operators"];
  EXPECT_EQ(IntWhere(operators, "name", "aten::addmm", "device_self_ns"), 300);
  EXPECT_EQ(IntWhere(operators, "name", "aten::addmm", "host_self_ns"), 40) << "without the launch call";
  EXPECT_EQ(IntWhere(operators, "name", "aten::linear", "device_self_ns"), 50);
  EXPECT_EQ(IntWhere(operators, "name", "aten::linear", "device_total_ns"), 350);
  EXPECT_EQ(IntWhere(operators, "name", "aten::linear", "host_total_ns"), 100);
  EXPECT_EQ(operators.Text(0, "name"), "aten::addmm") << "most device time first";
  EXPECT_EQ(operators.Text(0, "class"), "gemm");
  EXPECT_NEAR(operators.Real(0, "share"), 300.0 / 350, 1e-12);
}

TEST(Operators, OneInsideAnotherOfItsNameCountsOnceInTheTotals) {
  testing::HandMade trace;
  trace.Operator("aten::to", 0, 100).Operator("aten::to", 10, 60).Kernel("copy", {20, 30, 200, 500});
  testing::Analysed run(trace);
  const auto operators = run["operators"];
  ASSERT_EQ(operators.rows(), 1u);
  EXPECT_EQ(operators.Int(0, "calls"), 2);
  EXPECT_EQ(operators.Int(0, "host_total_ns"), 100);
  EXPECT_EQ(operators.Int(0, "device_total_ns"), 300);
}

TEST(Operators, WithoutDeviceWorkTheyHaveNoClass) {
  testing::HandMade trace;
  trace.Operator("aten::empty", 0, 100);
  testing::Analysed run(trace);
  ASSERT_EQ(run["operators"].rows(), 1u);
  EXPECT_TRUE(run["operators"].IsNull(0, "class"));
  EXPECT_TRUE(run["operators"].IsNull(0, "share"));
}

}  // namespace
}  // namespace gapless::internal
