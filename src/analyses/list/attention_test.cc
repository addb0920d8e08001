// SPDX-License-Identifier: Apache-2.0
// Tests table attention: forward and backward chains of unfused attention are found, and a classifier's softmax is not.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::AddOperation;
using testing::HandMade;

TEST(Attention, IsProductsAroundASoftmax) {
  HandMade trace;
  AddOperation(trace, "aten::bmm", GpuOpClass::kGemm, 0, 100);
  AddOperation(trace, "aten::mul", GpuOpClass::kPointwise, 10, 40, "[[16,8,8],[]]");
  AddOperation(trace, "aten::_softmax", GpuOpClass::kReduce, 20, 60, "[[16,8,8],[],[]]");
  AddOperation(trace, "aten::bmm", GpuOpClass::kGemm, 30, 80);
  testing::Analysed run(trace);
  const auto attention = run["attention"];
  ASSERT_EQ(attention.rows(), 1u);
  EXPECT_EQ(attention.Text(0, "pass"), "forward");
  EXPECT_EQ(attention.Text(0, "pattern"), "aten::mul > aten::_softmax");
  EXPECT_EQ(attention.Text(0, "shapes"), "[[16,8,8],[],[]]");
  EXPECT_EQ(attention.Int(0, "elements"), 16 * 8 * 8);
  EXPECT_EQ(attention.Int(0, "device_ns"), 280);
  EXPECT_EQ(attention.Int(0, "between_ns"), 100);
  EXPECT_EQ(run["fusion"].rows(), 0u) << "has a table of its own";
}

TEST(Attention, TellsWhichOperatorItIsWrittenOutIn) {
  HandMade trace;
  trace.Operator("aten::scaled_dot_product_attention", 0, 30);
  AddOperation(trace, "aten::bmm", GpuOpClass::kGemm, 0, 100);
  AddOperation(trace, "aten::_softmax", GpuOpClass::kReduce, 10, 60);
  AddOperation(trace, "aten::bmm", GpuOpClass::kGemm, 20, 80);
  testing::Analysed run(trace);
  ASSERT_EQ(run["attention"].rows(), 1u);
  EXPECT_EQ(run["attention"].Text(0, "operator"), "aten::scaled_dot_product_attention");
}

TEST(Attention, IsFoundBackwardsToo) {
  HandMade trace;
  AddOperation(trace, "aten::bmm", GpuOpClass::kGemm, 0, 10);
  AddOperation(trace, "aten::bmm", GpuOpClass::kGemm, 10, 20);
  AddOperation(trace, "aten::_softmax_backward_data", GpuOpClass::kReduce, 20, 60);
  AddOperation(trace, "aten::bmm", GpuOpClass::kGemm, 30, 30);
  testing::Analysed run(trace);
  ASSERT_EQ(run["attention"].rows(), 1u);
  EXPECT_EQ(run["attention"].Text(0, "pass"), "backward");
  EXPECT_EQ(run["attention"].Int(0, "device_ns"), 10 + 20 + 60 + 30);
  EXPECT_TRUE(run["attention"].IsNull(0, "shapes"));
}

TEST(Attention, AClassifiersSoftmaxIsNone) {
  HandMade trace;
  AddOperation(trace, "aten::addmm", GpuOpClass::kGemm, 0, 100);
  AddOperation(trace, "aten::_softmax", GpuOpClass::kReduce, 10, 60);
  testing::Analysed run(trace);
  EXPECT_EQ(run["attention"].rows(), 0u);
}

}  // namespace
}  // namespace gapless::internal
