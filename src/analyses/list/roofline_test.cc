// SPDX-License-Identifier: Apache-2.0
// Tests table roofline: reached fractions of peaks, missing shapes or devices, and convolutions without a recorded
// stride.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::kMatrixKernel;
using testing::kProduct;
using testing::kProductFlops;
using testing::OnA100;

constexpr double kProductBytes = 3 * 2.0 * 1024 * 1024;

TEST(Roofline, SpeedOfAProductAgainstThePeakOfItsUnits) {
  OnA100 trace;
  trace.OperatorOn("aten::mm", 0, 100, kProduct).OperatorOn("aten::mm", 100, 200, kProduct);
  trace.Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel).Kernel("gemm", {110, 120, 11'000, 31'000}, kMatrixKernel);
  testing::Analysed run(trace);
  const auto roofline = run["roofline"];
  ASSERT_EQ(roofline.rows(), 1u);
  EXPECT_EQ(roofline.Int(0, "calls"), 2);
  EXPECT_DOUBLE_EQ(roofline.Real(0, "flops"), kProductFlops);
  EXPECT_DOUBLE_EQ(roofline.Real(0, "tflops"), 2 * kProductFlops / 30'000 / 1e3);
  EXPECT_DOUBLE_EQ(roofline.Real(0, "gbps"), 2 * kProductBytes / 30'000);
  EXPECT_EQ(roofline.Real(0, "peak_tflops"), 312);
  EXPECT_EQ(roofline.Text(0, "bound"), "compute") << "341 FLOPs a byte";
  EXPECT_NEAR(roofline.Real(0, "roofline_share"), 2 * kProductFlops / 312e3 / 30'000, 1e-12);
  EXPECT_EQ(roofline.Int(0, "m"), 1024);
}

TEST(Roofline, AProductWithAVectorIsHeldAgainstTheMemory) {
  OnA100 trace;
  trace.OperatorOn("aten::mm", 0, 100,
                   {.shapes = "[[1,4096],[4096,4096]]", .types = R"(["c10::BFloat16","c10::BFloat16"])"});
  trace.Kernel("gemvx::kernel", {10, 20, 1000, 31'000},
               {.op_class = GpuOpClass::kGemv, .matrix_unit = MatrixUnit::kNo});
  testing::Analysed run(trace);
  const auto roofline = run["roofline"];
  EXPECT_EQ(roofline.Text(0, "matrix_unit"), "no");
  EXPECT_EQ(roofline.Int(0, "matrix_ns"), 0);
  EXPECT_EQ(roofline.Real(0, "peak_tflops"), 19.5) << "float32 on the ordinary units";
  EXPECT_EQ(roofline.Text(0, "bound"), "memory");
  EXPECT_NEAR(roofline.Real(0, "roofline_share"), 2.0 * 4096 * (4096 + 2) / 2039 / 30'000, 1e-9);
}

TEST(Roofline, WithoutDeviceOrShapesThereIsNoVerdict) {
  testing::HandMade unnamed;
  unnamed.OperatorOn("aten::mm", 0, 100, kProduct).Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel);
  testing::Analysed no_device(unnamed);
  EXPECT_DOUBLE_EQ(no_device["roofline"].Real(0, "flops"), kProductFlops);
  EXPECT_TRUE(no_device["roofline"].IsNull(0, "roofline_share"));
  OnA100 bare;
  bare.Operator("aten::mm", 0, 100).Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel);
  testing::Analysed no_shapes(bare);
  for (const std::string_view column : {"flops", "bytes", "tflops", "bound", "dtype", "shapes", "m"})
    EXPECT_TRUE(no_shapes["roofline"].IsNull(0, column)) << column;
  EXPECT_EQ(no_shapes["roofline"].Int(0, "device_ns"), 10'000);
}

// 8 images of 64 channels and 56×56, 128 filters of 3×3, every second position: 28×28.
constexpr std::string_view kInput = "[8,64,56,56]", kOutput = "[8,128,28,28]", kWeight = "[128,64,3,3]";
constexpr double kConvolution = 2.0 * 8 * 28 * 28 * 128 * 64 * 9;

std::string Shapes(std::initializer_list<std::string_view> inputs) {
  std::string text = "[";
  for (const std::string_view input : inputs) text += (text.size() > 1 ? "," : "") + std::string(input);
  return text + "]";
}

// A forward pass, and a backward pass whose gradient has the size `output`, as recorders wrote them before 2022: the
// gradient of the weight does not name the weight, and no stride is written.
void AddConvolution(testing::HandMade& trace, int64_t t, std::string_view output) {
  const std::string forward = Shapes({kInput, kWeight, "[]"}), backward = Shapes({kInput, output, kWeight, "[]"});
  const std::string of_weight = Shapes({"[]", output, kInput});
  trace.OperatorOn("aten::cudnn_convolution", t, t + 100, {.shapes = forward});
  trace.OperatorOn("aten::cudnn_convolution_backward", t + 200, t + 400, {.shapes = backward});
  trace.OperatorOn("aten::cudnn_convolution_backward_weight", t + 250, t + 350, {.shapes = of_weight});
  const GpuOpDraft conv{.op_class = GpuOpClass::kConv, .matrix_unit = MatrixUnit::kNo};
  trace.Kernel("forward", {t + 10, t + 20, t + 1000, t + 3000}, conv);
  trace.Kernel("wgrad", {t + 260, t + 270, t + 3000, t + 4000}, conv);
}

TEST(Roofline, ConvolutionsWithoutStrideFromTheirBackwardPass) {
  OnA100 trace;
  AddConvolution(trace, 0, kOutput);
  testing::Analysed run(trace);
  const auto roofline = run["roofline"];
  ASSERT_EQ(roofline.rows(), 2u);
  for (size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(roofline.Real(row, "flops"), kConvolution) << roofline.Text(row, "operator");
    EXPECT_EQ(roofline.Int(row, "m"), 8 * 28 * 28);
    EXPECT_EQ(roofline.Int(row, "k"), 64 * 9);
    EXPECT_TRUE(roofline.IsNull(row, "bytes")) << "types were not recorded";
  }
}

TEST(Roofline, ConvolutionsWhoseBackwardPassesDifferHaveNoFlops) {
  OnA100 trace;
  AddConvolution(trace, 0, kOutput);
  AddConvolution(trace, 10'000, "[8,128,56,56]");
  testing::Analysed run(trace);
  const auto roofline = run["roofline"];
  ASSERT_EQ(roofline.rows(), 3u);
  for (size_t row = 0; row < 3; ++row)
    EXPECT_EQ(roofline.IsNull(row, "flops"), roofline.Text(row, "operator") == "aten::cudnn_convolution") << row;
}

TEST(Roofline, CopiesFromTheHostAreNotTheMemorysWork) {
  OnA100 trace;
  trace.OperatorOn("aten::copy_", 0, 100, {.shapes = "[[64],[64]]", .types = R"(["float","float"])"});
  trace.Copy(CopyKind::kHtoDPinned, {10, 20, 30, 60});
  testing::Analysed run(trace);
  EXPECT_EQ(run["roofline"].rows(), 0u);
}

}  // namespace
}  // namespace gapless::internal
