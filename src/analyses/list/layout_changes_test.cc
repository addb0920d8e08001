// SPDX-License-Identifier: Apache-2.0
// Tests table layout_changes: layout conversions by the operator that needs them.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(LayoutChanges, ByTheOperatorThatNeedsThem) {
  testing::HandMade trace;
  trace.Operator("aten::cudnn_convolution", 0, 100, testing::kMain, R"(["c10::Half"])");
  trace.Kernel("void cudnn::ops::nchwToNhwcKernel<__half>(int)", {10, 20, 100, 130});
  trace.Kernel("implicit_gemm", {30, 40, 130, 180}).Kernel("void nhwcToNchwKernel<__half>", {50, 60, 180, 200});
  testing::Analysed run(trace);
  const auto changes = run["layout_changes"];
  ASSERT_EQ(changes.rows(), 1u);
  EXPECT_EQ(changes.Text(0, "operator"), "aten::cudnn_convolution");
  EXPECT_EQ(changes.Text(0, "kernel"), "void cudnn::ops::nchwToNhwcKernel<__half>(int)") << "the most time";
  EXPECT_EQ(changes.Text(0, "types"), R"(["c10::Half"])");
  EXPECT_EQ(changes.Int(0, "calls"), 2);
  EXPECT_EQ(changes.Int(0, "device_ns"), 50);
  EXPECT_EQ(changes.Int(0, "operator_ns"), 100);
  EXPECT_DOUBLE_EQ(changes.Real(0, "share"), 0.5);
}

TEST(LayoutChanges, AKernelThatComputesInALayoutChangesNone) {
  testing::HandMade trace;
  trace.Kernel("volta_scudnn_128x64_ldg4_relu_exp_small_nhwc_tn_v1", {0, 10, 20, 30});
  testing::Analysed run(trace);
  EXPECT_EQ(run["layout_changes"].rows(), 0u);
}

TEST(LayoutChanges, WithoutAnOperatorItsNameIsAbsent) {
  testing::HandMade trace;
  trace.Kernel("batched_transpose_32x32_half", {0, 10, 20, 30});
  testing::Analysed run(trace);
  EXPECT_TRUE(run["layout_changes"].IsNull(0, "operator"));
  EXPECT_TRUE(run["layout_changes"].IsNull(0, "types"));
}

}  // namespace
}  // namespace gapless::internal
