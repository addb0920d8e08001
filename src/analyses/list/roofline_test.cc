// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless {
namespace {

constexpr testing::HandMade::Inputs kProduct{.shapes = "[[1024,1024],[1024,1024]]",
                                             .types = R"(["c10::BFloat16","c10::BFloat16"])"};
constexpr GpuOpRow kMatrixKernel{.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes};
constexpr double kFlops = 2.0 * 1024 * 1024 * 1024, kBytes = 3 * 2.0 * 1024 * 1024;

struct OnA100 : testing::HandMade {
  OnA100() { Device({.device = 0, .vendor = Vendor::kNvidia, .name = "NVIDIA A100-SXM4-80GB"}); }
};

TEST(Roofline, SpeedOfAProductAgainstThePeakOfItsUnits) {
  OnA100 trace;
  trace.OperatorOn("aten::mm", 0, 100, kProduct).OperatorOn("aten::mm", 100, 200, kProduct);
  trace.Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel).Kernel("gemm", {110, 120, 11'000, 31'000}, kMatrixKernel);
  testing::Analysed run(trace);
  const Table& roofline = run["roofline"];
  ASSERT_EQ(roofline.rows(), 1u);
  EXPECT_EQ(roofline.Int(0, "calls"), 2);
  EXPECT_DOUBLE_EQ(roofline.Real(0, "flops"), kFlops);
  EXPECT_DOUBLE_EQ(roofline.Real(0, "tflops"), 2 * kFlops / 30'000 / 1e3);
  EXPECT_DOUBLE_EQ(roofline.Real(0, "gbps"), 2 * kBytes / 30'000);
  EXPECT_EQ(roofline.Real(0, "peak_tflops"), 312);
  EXPECT_EQ(roofline.Text(0, "bound"), "compute") << "341 FLOPs a byte";
  EXPECT_NEAR(roofline.Real(0, "roofline_share"), 2 * kFlops / 312e3 / 30'000, 1e-12);
  EXPECT_EQ(roofline.Int(0, "m"), 1024);
}

TEST(Roofline, WithoutDeviceOrShapesThereIsNoVerdict) {
  testing::HandMade unnamed;
  unnamed.OperatorOn("aten::mm", 0, 100, kProduct).Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel);
  testing::Analysed no_device(unnamed);
  EXPECT_DOUBLE_EQ(no_device["roofline"].Real(0, "flops"), kFlops);
  EXPECT_TRUE(no_device["roofline"].IsNull(0, "roofline_share"));
  OnA100 bare;
  bare.Operator("aten::mm", 0, 100).Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel);
  testing::Analysed no_shapes(bare);
  for (const std::string_view column : {"flops", "bytes", "tflops", "bound", "dtype", "shapes", "m"})
    EXPECT_TRUE(no_shapes["roofline"].IsNull(0, column)) << column;
  EXPECT_EQ(no_shapes["roofline"].Int(0, "device_ns"), 10'000);
}

TEST(Roofline, CopiesFromTheHostAreNotTheMemorysWork) {
  OnA100 trace;
  trace.OperatorOn("aten::copy_", 0, 100, {.shapes = "[[64],[64]]", .types = R"(["float","float"])"});
  trace.Copy(CopyKind::kHtoDPinned, {10, 20, 30, 60});
  testing::Analysed run(trace);
  EXPECT_EQ(run["roofline"].rows(), 0u);
}

}  // namespace
}  // namespace gapless
