// SPDX-License-Identifier: Apache-2.0
// Tests table matrix_work: time on and off tensor cores, element types, and the generation from kernel names.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

GpuOpDraft Matrix(GpuOpClass op_class, MatrixUnit unit) { return {.op_class = op_class, .matrix_unit = unit}; }

TEST(MatrixWork, ByWhetherItRunsOnMatrixUnits) {
  testing::HandMade trace;
  trace.Device({.device = 0, .vendor = Vendor::kNvidia, .name = "A100", .compute_major = 8, .compute_minor = 0});
  trace.Operator("aten::conv2d", 0, 100, testing::kMain, R"(["GenericList", "float", ""])");
  trace.Kernel("sgemm", {10, 20, 100, 200}, Matrix(GpuOpClass::kConv, MatrixUnit::kNo));
  trace.Kernel("hmma", {20, 30, 200, 500}, Matrix(GpuOpClass::kGemm, MatrixUnit::kYes));
  trace.Kernel("who knows", {30, 40, 500, 550}, Matrix(GpuOpClass::kAttention, MatrixUnit::kUnknown));
  trace.Kernel("relu", {40, 50, 550, 600}, Matrix(GpuOpClass::kPointwise, MatrixUnit::kNo));
  testing::Analysed run(trace);
  const auto work = run["matrix_work"];
  ASSERT_EQ(work.rows(), 1u);
  EXPECT_EQ(work.Text(0, "device_name"), "A100");
  EXPECT_EQ(work.Int(0, "compute_major"), 8);
  EXPECT_EQ(work.Int(0, "kernel_ns"), 500);
  EXPECT_EQ(work.Int(0, "matrix_ns"), 450);
  EXPECT_EQ(work.Int(0, "on_units_ns"), 300);
  EXPECT_EQ(work.Int(0, "off_units_ns"), 100);
  EXPECT_EQ(work.Int(0, "unknown_ns"), 50);
  EXPECT_DOUBLE_EQ(work.Real(0, "on_units_share"), 0.75);
  EXPECT_EQ(work.Text(0, "dtype"), "float") << "a list of tensors has no element type";
  EXPECT_EQ(work.Int(0, "gpu_op_id"), 0);
}

TEST(MatrixWork, WhatWasNotRecordedIsNull) {
  testing::HandMade trace;
  trace.Kernel("who knows", {0, 10, 500, 550}, Matrix(GpuOpClass::kGemm, MatrixUnit::kUnknown));
  testing::Analysed run(trace);
  for (const std::string_view column :
       {"device_name", "compute_major", "on_units_share", "dtype", "gpu_op_id", "least_compute_major"})
    EXPECT_TRUE(run["matrix_work"].IsNull(0, column)) << column;
}

TEST(MatrixWork, TheNewestGenerationThatNamesOfItsKernelsTell) {
  testing::HandMade trace;
  trace.Kernel("volta_sgemm_128x64_nn", {0, 10, 100, 200}, Matrix(GpuOpClass::kGemm, MatrixUnit::kNo));
  trace.Kernel("ampere_sgemm_128x64_nn", {20, 30, 200, 210}, Matrix(GpuOpClass::kGemm, MatrixUnit::kNo));
  trace.Kernel("volta_sgemm_128x64_nn", {40, 50, 300, 400},
               {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo, .device = 1});
  trace.Kernel("nvjet_tst", {60, 70, 500, 600}, Matrix(GpuOpClass::kPointwise, MatrixUnit::kNo));
  testing::Analysed run(trace);
  EXPECT_EQ(run["matrix_work"].Int(0, "least_compute_major"), 8) << "matrix kernels only";
  EXPECT_EQ(run["matrix_work"].Int(1, "least_compute_major"), 7);
  EXPECT_TRUE(run["matrix_work"].IsNull(0, "compute_major")) << "that is what was recorded";
}

GpuOpDraft OffUnits(KernelPrecision precision) {
  return {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo, .precision = precision};
}

TEST(MatrixWork, OffTheUnitsByWhatIsMultiplied) {
  testing::HandMade trace;
  trace.Operator("aten::mm", 0, 100, testing::kMain, R"(["c10::BFloat16"])");
  trace.Kernel("gemm_by_operator", {10, 20, 100, 200}, OffUnits(KernelPrecision::kUnknown));
  trace.Kernel("sgemm", {20, 30, 200, 500}, OffUnits(KernelPrecision::kFp32));
  trace.Kernel("dgemm", {30, 40, 500, 550}, OffUnits(KernelPrecision::kFp64));
  trace.Kernel("who knows", {200, 210, 600, 610}, OffUnits(KernelPrecision::kUnknown));
  trace.Kernel("marlin", {220, 230, 700, 705}, OffUnits(KernelPrecision::kMixed));
  testing::Analysed run(trace);
  EXPECT_EQ(run["matrix_work"].Int(0, "off_units_ns"), 465);
  EXPECT_EQ(run["matrix_work"].Int(0, "off_float32_ns"), 310) << "products of unknown type count as float32";
  EXPECT_EQ(run["matrix_work"].Int(0, "off_float64_ns"), 50);
}

TEST(MatrixWork, AMatrixTimesAVectorIsNone) {
  testing::HandMade trace;
  trace.Kernel("gemvx::kernel", {0, 10, 100, 200}, {.op_class = GpuOpClass::kGemv, .matrix_unit = MatrixUnit::kNo});
  testing::Analysed run(trace);
  EXPECT_EQ(run["matrix_work"].Int(0, "kernel_ns"), 100);
  EXPECT_EQ(run["matrix_work"].Int(0, "matrix_ns"), 0);
}

}  // namespace
}  // namespace gapless::internal
