// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(OperatorShapes, OneRowPerNameAndShape) {
  testing::HandMade trace;
  const testing::HandMade::Inputs small{.shapes = "[[2,2],[2,2]]", .types = R"(["float","float"])"},
      large{.shapes = "[[8,8],[8,8]]", .types = R"(["float","float"])"};
  trace.OperatorOn("aten::mm", 0, 10, small)
      .OperatorOn("aten::mm", 20, 40, large)
      .OperatorOn("aten::mm", 50, 60, small);
  trace.Kernel("a", {2, 4, 10, 30}).Kernel("b", {22, 24, 40, 100}).Kernel("c", {52, 54, 100, 110});
  testing::Analysed run(trace);
  const auto table = run["operator_shapes"];
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.Text(0, "shapes"), "[[8,8],[8,8]]") << "the most device time first";
  EXPECT_EQ(table.Int(0, "device_self_ns"), 60);
  EXPECT_EQ(table.Int(1, "calls"), 2);
  EXPECT_EQ(table.Int(1, "device_self_ns"), 30);
  EXPECT_EQ(table.Int(1, "host_total_ns"), 20);
  EXPECT_DOUBLE_EQ(table.Real(1, "share"), 30.0 / 90);
}

TEST(OperatorShapes, WithoutShapesThereIsOneRowPerName) {
  testing::HandMade trace;
  trace.Operator("aten::mm", 0, 10).Operator("aten::mm", 20, 30);
  trace.Kernel("a", {2, 4, 10, 30});
  testing::Analysed run(trace);
  ASSERT_EQ(run["operator_shapes"].rows(), 1u);
  EXPECT_TRUE(run["operator_shapes"].IsNull(0, "shapes"));
}

}  // namespace
}  // namespace gapless::internal
