// SPDX-License-Identifier: Apache-2.0
// Tests table operator_types: types from operators, then from kernels, and the sum over all types.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::IntWhere;

TEST(OperatorTypes, OperatorFirstThenKernelAndAllAddsUp) {
  testing::HandMade trace;
  trace.Operator("aten::cudnn_convolution", 0, 10).Operator("triton_poi_fused_add_0", 20, 30);
  trace.Operator("aten::mm", 30, 40).Operator("my::operator", 40, 50);
  trace.Kernel("nchwToNhwc", {1, 2, 100, 110}, {.op_class = GpuOpClass::kCopy});
  trace.Kernel("conv", {3, 4, 110, 150}, {.op_class = GpuOpClass::kConv, .matrix_unit = MatrixUnit::kYes});
  trace.Kernel("triton_poi_fused_add_0", {21, 22, 150, 155}, {.op_class = GpuOpClass::kPointwise});
  trace.Kernel("gemm", {31, 32, 160, 180}, {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo});
  trace.Kernel("reduce", {41, 42, 180, 187}, {.op_class = GpuOpClass::kReduce});
  trace.Kernel("nccl", {60, 61, 190, 200}, {.op_class = GpuOpClass::kCommunication});
  trace.Copy(CopyKind::kHtoDPinned, {70, 71, 200, 203});
  testing::Analysed run(trace);
  const auto table = run["operator_types"];
  EXPECT_EQ(IntWhere(table, "type", "conv", "device_ns"), 50) << "a layout change inside a convolution is convolution";
  EXPECT_EQ(IntWhere(table, "type", "pointwise", "device_ns"), 5);
  EXPECT_EQ(IntWhere(table, "type", "matmul", "device_ns"), 20);
  EXPECT_EQ(IntWhere(table, "type", "reduction", "device_ns"), 7) << "the operator's name does not show the type";
  EXPECT_EQ(IntWhere(table, "type", "communication", "device_ns"), 10);
  EXPECT_EQ(IntWhere(table, "type", "copy", "device_ns"), 3);
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) sum += table.Int(row, "device_ns");
  EXPECT_EQ(sum, 95);
  EXPECT_EQ(table.Text(0, "type"), "conv") << "largest first";
  EXPECT_DOUBLE_EQ(table.Real(0, "matrix_unit_share"), 1);
}

TEST(OperatorTypes, WorkOfAnOptimizersStepIsTheOptimizers) {
  testing::HandMade trace;
  trace.Annotation("Optimizer.step#SGD.step", 0, 100).Operator("aten::add_", 10, 20).Operator("aten::add_", 110, 120);
  trace.Kernel("add", {11, 12, 30, 40}, {.op_class = GpuOpClass::kPointwise});
  trace.Kernel("add", {111, 112, 130, 145}, {.op_class = GpuOpClass::kPointwise});
  testing::Analysed run(trace);
  EXPECT_EQ(IntWhere(run["operator_types"], "type", "optimizer", "device_ns"), 10);
  EXPECT_EQ(IntWhere(run["operator_types"], "type", "optimizer", "calls"), 1);
  EXPECT_EQ(IntWhere(run["operator_types"], "type", "pointwise", "device_ns"), 15);
}

}  // namespace
}  // namespace gapless::internal
