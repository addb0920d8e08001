// SPDX-License-Identifier: Apache-2.0
// Tests table precision: matrix time by element type, types from kernel names, and casts by autocast.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

constexpr GpuOpDraft kGemmKernel{.op_class = GpuOpClass::kGemm};

TEST(Precision, MatrixTimeByElementType) {
  HandMade trace;
  trace.Operator("aten::mm", 0, 100, testing::kMain, R"(["float","float"])")
      .Kernel("a", {10, 20, 100, 150}, kGemmKernel);
  trace.Operator("aten::mm", 100, 200, testing::kMain, R"(["c10::Half","c10::Half"])");
  trace.Kernel("b", {110, 120, 200, 250}, kGemmKernel);
  trace.Operator("aten::bmm", 200, 300, testing::kMain, R"(["c10::BFloat16"])")
      .Kernel("c", {210, 220, 300, 400}, kGemmKernel);
  trace.Kernel("unknown", {310, 320, 400, 410}, kGemmKernel).Kernel("add", {330, 340, 410, 420});
  testing::Analysed run(trace);
  const auto precision = run["precision"];
  ASSERT_EQ(precision.rows(), 1u);
  EXPECT_EQ(precision.Int(0, "matrix_ns"), 210);
  EXPECT_EQ(precision.Int(0, "float_ns"), 50);
  EXPECT_EQ(precision.Int(0, "half_ns"), 50);
  EXPECT_EQ(precision.Int(0, "bfloat16_ns"), 100);
  EXPECT_EQ(precision.Int(0, "unknown_ns"), 10);
  EXPECT_DOUBLE_EQ(precision.Real(0, "low_precision_share"), 0.75);
  EXPECT_EQ(precision.Int(0, "autocast"), 0);
  EXPECT_EQ(precision.Int(0, "grad_scaler"), 0);
}

TEST(Precision, NamesOfKernelsTellWhereNoTypesWereRecorded) {
  HandMade trace;
  GpuOpDraft half = kGemmKernel, tf32 = kGemmKernel, mixed = kGemmKernel;
  half.precision = KernelPrecision::kFp16, tf32.precision = KernelPrecision::kTf32;
  mixed.precision = KernelPrecision::kMixed;
  trace.Kernel("h16816gemm", {0, 10, 100, 150}, half).Kernel("s1688gemm", {20, 30, 200, 230}, tf32);
  trace.Kernel("marlin", {40, 50, 300, 310}, mixed);
  testing::Analysed run(trace);
  EXPECT_EQ(run["precision"].Int(0, "half_ns"), 50);
  EXPECT_EQ(run["precision"].Int(0, "float_ns"), 30) << "TF32 included";
  EXPECT_EQ(run["precision"].Int(0, "other_ns"), 10);
  EXPECT_EQ(run["precision"].Int(0, "unknown_ns"), 0);
}

TEST(Precision, AutocastConvertsInsideTheOperator) {
  HandMade trace;
  trace.Operator("aten::linear", 0, 200).Operator("aten::to", 10, 100).Operator("aten::_to_copy", 20, 90);
  trace.Operator("aten::copy_", 30, 80).Kernel("cast", {40, 50, 300, 320});
  trace.Operator("aten::_amp_update_scale_", 200, 210).Kernel("gemm", {202, 205, 320, 400}, kGemmKernel);
  testing::Analysed run(trace);
  EXPECT_EQ(run["precision"].Int(0, "autocast"), 1);
  EXPECT_EQ(run["precision"].Int(0, "grad_scaler"), 1);
  EXPECT_EQ(run["precision"].Int(0, "cast_calls"), 1);
  EXPECT_EQ(run["precision"].Int(0, "cast_ns"), 20);
  EXPECT_DOUBLE_EQ(run["precision"].Real(0, "cast_share"), 0.2);
}

TEST(Precision, WithoutOperatorsNothingIsSaid) {
  HandMade trace;
  trace.Kernel("gemm", {0, 10, 20, 30}, kGemmKernel);
  testing::Analysed run(trace);
  EXPECT_TRUE(run["precision"].IsNull(0, "autocast"));
  EXPECT_TRUE(run["precision"].IsNull(0, "low_precision_share"));
}

}  // namespace
}  // namespace gapless::internal
