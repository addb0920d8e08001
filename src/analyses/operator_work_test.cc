// SPDX-License-Identifier: Apache-2.0
// Against formulas written by hand and figures everybody knows.
#include "analyses/operator_work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace gapless::internal {
namespace {

Work Of(std::string_view name, std::string_view shapes, std::string_view types, std::string_view values = "") {
  const WorkFormula* formula = FindWorkFormula(name);
  if (formula == nullptr) return {};
  return formula->work(*formula, ReadInputs(shapes, types, values));
}

TEST(OperatorWork, ProductsOfTwoMatrices) {
  const Work mm = Of("aten::mm", "[[128,256],[256,512]]", R"(["c10::Half","c10::Half"])");
  EXPECT_DOUBLE_EQ(mm.flops, 2.0 * 128 * 256 * 512);
  EXPECT_DOUBLE_EQ(mm.bytes, 2.0 * (128 * 256 + 256 * 512 + 128 * 512));
  EXPECT_EQ(mm.m, 128);
  EXPECT_EQ(mm.n, 512);
  EXPECT_EQ(mm.k, 256);
  EXPECT_EQ(mm.type, ElementType::kFp16);
  EXPECT_DOUBLE_EQ(Of("aten::bmm", "[[8,128,64],[8,64,32]]", R"(["float","float"])").flops, 2.0 * 8 * 128 * 64 * 32);
  EXPECT_DOUBLE_EQ(Of("aten::linear", "[[4,16,64],[128,64],[128]]", R"(["float","float","float"])").flops,
                   2.0 * 4 * 16 * 64 * 128);
  EXPECT_DOUBLE_EQ(
      Of("aten::addmm", "[[10],[4,8],[8,10],[],[]]", R"(["float","float","float","Scalar","Scalar"])").bytes,
      4.0 * (10 + 32 + 80 + 40));
  EXPECT_TRUE(std::isnan(Of("aten::mm", "[[128,256],[255,512]]", R"(["float","float"])").flops)) << "do not fit";
}

constexpr std::string_view kConvTypes =
    R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";

TEST(OperatorWork, ConvolutionNeedsItsValues) {
  constexpr std::string_view kShapes = "[[32,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]";
  const Work first =
      Of("aten::convolution", kShapes, kConvTypes, R"(["","","","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1"])");
  EXPECT_DOUBLE_EQ(first.flops, 2.0 * 32 * 64 * 112 * 112 * 3 * 7 * 7);
  EXPECT_EQ(first.m, 32 * 112 * 112);
  EXPECT_EQ(first.n, 64);
  EXPECT_EQ(first.k, 147);
  EXPECT_TRUE(std::isnan(Of("aten::convolution", kShapes, kConvTypes).flops)) << "stride not recorded";
}

TEST(OperatorWork, GroupsAndTransposedConvolutions) {
  const Work depthwise = Of("aten::convolution", "[[8,32,14,14],[32,1,3,3],[],[],[],[],[],[],[]]", kConvTypes,
                            R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","32"])");
  EXPECT_DOUBLE_EQ(depthwise.flops, 2.0 * 8 * 32 * 14 * 14 * 9);
  EXPECT_EQ(depthwise.batch, 32);
  const Work up = Of("aten::convolution", "[[8,32,14,14],[32,16,2,2],[],[],[],[],[],[],[]]", kConvTypes,
                     R"(["","","","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1"])");
  EXPECT_DOUBLE_EQ(up.flops, 2.0 * 8 * 32 * 14 * 14 * 16 * 4) << "each input element meets each weight once";
}

TEST(OperatorWork, BackwardOfAConvolutionCostsOneProductPerGradient) {
  const auto backward = [](std::string_view mask) {
    return Of(
        "aten::convolution_backward", "[[32,64,112,112],[32,3,224,224],[64,3,7,7],[],[],[],[],[],[],[],[]]",
        R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])",
        std::string(R"(["","","","[0]","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1",")") + std::string(mask) +
            "\"]");
  };
  const double one = 2.0 * 32 * 64 * 112 * 112 * 147;
  EXPECT_DOUBLE_EQ(backward("[True, True, False]").flops, 2 * one);
  EXPECT_DOUBLE_EQ(backward("[False, True, False]").flops, one) << "the first layer needs no gradient of its input";
  EXPECT_TRUE(std::isnan(backward("").flops));
}

// Forward of ResNet-50 at 224²: 4.09 G multiply-adds (torchvision's model page), so 8.18 GFLOP.
TEST(OperatorWork, ResNet50IsWhatEverybodySays) {
  double flops = 0;
  const auto conv = [&](int64_t in, int64_t out, int64_t size, int64_t kernel, int64_t stride) {
    const std::string shapes = "[[1," + std::to_string(in) + "," + std::to_string(size) + "," + std::to_string(size) +
                               "],[" + std::to_string(out) + "," + std::to_string(in) + "," + std::to_string(kernel) +
                               "," + std::to_string(kernel) + "],[],[],[],[],[],[],[]]";
    const std::string s = std::to_string(stride), p = std::to_string(kernel / 2);
    flops += Of("aten::convolution", shapes, kConvTypes,
                R"(["","","","[)" + s + ", " + s + R"(]","[)" + p + ", " + p + R"(]","[1, 1]","False","[0, 0]","1"])")
                 .flops;
    return (size + 2 * (kernel / 2) - kernel) / stride + 1;
  };
  int64_t size = conv(3, 64, 224, 7, 2) / 2, channels = 64;
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int64_t block = 0; block < blocks[stage]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      conv(channels, width, size, 1, 1);
      const int64_t next = conv(width, width, size, 3, stride);
      conv(width, 4 * width, next, 1, 1);
      if (block == 0) conv(channels, 4 * width, size, 1, stride);
      size = next, channels = 4 * width;
    }
  }
  flops +=
      Of("aten::addmm", "[[1000],[1,2048],[2048,1000],[],[]]", R"(["float","float","float","Scalar","Scalar"])").flops;
  EXPECT_NEAR(flops, 2 * 4.09e9, 0.01e9);
}

// A transformer layer's products cost 2 FLOPs per parameter and token, forward (6 with backward).
TEST(OperatorWork, TransformerLayersCostTwoPerParameterAndToken) {
  constexpr int64_t kTokens = 2048, kWidth = 768;
  const auto linear = [&](int64_t in, int64_t out) {
    return Of("aten::linear",
              "[[" + std::to_string(kTokens) + "," + std::to_string(in) + "],[" + std::to_string(out) + "," +
                  std::to_string(in) + "],[]]",
              R"(["c10::BFloat16","c10::BFloat16",""])")
        .flops;
  };
  const double flops =
      linear(kWidth, 3 * kWidth) + linear(kWidth, kWidth) + linear(kWidth, 4 * kWidth) + linear(4 * kWidth, kWidth);
  EXPECT_DOUBLE_EQ(flops, 2.0 * kTokens * 12 * kWidth * kWidth);
}

constexpr std::string_view kFlashTypes =
    R"(["c10::Half","c10::Half","c10::Half","","","Scalar","Scalar","Scalar","Scalar"])";
constexpr std::string_view kFlashShapes = "[[2,512,8,64],[2,512,8,64],[2,512,8,64],[],[],[],[],[],[]]";

TEST(OperatorWork, AttentionCountsPairs) {
  const Work full =
      Of("aten::_flash_attention_forward", kFlashShapes, kFlashTypes, R"(["","","","","","512","512","0.","False"])");
  EXPECT_DOUBLE_EQ(full.flops, 4.0 * 2 * 8 * 512 * 512 * 64);
  EXPECT_DOUBLE_EQ(full.bytes, 4.0 * 2 * 2 * 512 * 8 * 64);
  const Work causal =
      Of("aten::_flash_attention_forward", kFlashShapes, kFlashTypes, R"(["","","","","","512","512","0.","True"])");
  EXPECT_DOUBLE_EQ(causal.flops, 4.0 * 2 * 8 * 64 * 512 * 513 / 2);
  EXPECT_TRUE(std::isnan(Of("aten::_flash_attention_forward", kFlashShapes, kFlashTypes).flops)) << "causal or not?";
}

TEST(OperatorWork, BackwardOfFusedAttentionRepeatsOneProduct) {
  const Work work = Of(
      "aten::_flash_attention_backward",
      "[[2,512,8,64],[2,512,8,64],[2,512,8,64],[2,512,8,64],[2,512,8,64],[2,8,512],[],[],[],[],[],[]]",
      R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","","","Scalar","Scalar","Scalar","Scalar"])",
      R"(["","","","","","","","","512","512","0.","False"])");
  const double product = 2.0 * 2 * 8 * 512 * 512 * 64;
  EXPECT_DOUBLE_EQ(work.model_flops, 4 * product);
  EXPECT_DOUBLE_EQ(work.flops, 5 * product);
}

TEST(OperatorWork, BytesOfWhatMovesData) {
  EXPECT_DOUBLE_EQ(
      Of("aten::native_layer_norm", "[[4,8],[],[8],[8],[]]", R"(["float","ScalarList","float","float","Scalar"])")
          .bytes,
      2 * 4.0 * 32);
  EXPECT_DOUBLE_EQ(Of("aten::add", "[[4,8],[8],[]]", R"(["float","float","Scalar"])").bytes, 4.0 * (32 + 8 + 32));
  EXPECT_DOUBLE_EQ(Of("aten::copy_", "[[4,8],[4,8],[]]", R"(["c10::Half","float","Scalar"])").bytes, 32 * (2.0 + 4));
  EXPECT_DOUBLE_EQ(Of("aten::mul", "[[4,8],[]]", R"(["c10::Half","double"])").bytes, 2 * 2.0 * 32 + 8)
      << "a scalar does not widen the result";
  EXPECT_DOUBLE_EQ(Of("aten::mul", "[[4,8],[],[4,8]]", R"(["float","double","float"])").bytes, 2 * 4.0 * 32 + 8)
      << "the third tensor is where the result goes";
  EXPECT_DOUBLE_EQ(Of("aten::relu_", "[[4,8]]", R"(["float"])").bytes, 2 * 4.0 * 32);
  EXPECT_EQ(FindWorkFormula("aten::sort"), nullptr);
}

TEST(PeakTflops, OfTheUnitsThatWereUsed) {
  const DevicePeaks &a100 = *FindDevicePeaks("NVIDIA A100-SXM4-80GB"), &v100 = *FindDevicePeaks("Tesla V100-SXM2-16GB");
  const auto gemm = [](const DevicePeaks& peaks, ElementType type, MatrixUnit unit) {
    return PeakTflops(peaks, WorkKind::kGemm, type, unit);
  };
  EXPECT_EQ(gemm(a100, ElementType::kBf16, MatrixUnit::kYes), 312);
  EXPECT_EQ(gemm(a100, ElementType::kFp32, MatrixUnit::kYes), 156) << "TF32";
  EXPECT_EQ(gemm(a100, ElementType::kFp32, MatrixUnit::kNo), 19.5);
  EXPECT_TRUE(std::isnan(gemm(a100, ElementType::kFp32, MatrixUnit::kUnknown)));
  EXPECT_EQ(gemm(v100, ElementType::kFp32, MatrixUnit::kUnknown), 15.7) << "has no TF32";
  EXPECT_TRUE(std::isnan(gemm(v100, ElementType::kBf16, MatrixUnit::kYes))) << "has no bfloat16";
  EXPECT_EQ(PeakTflops(a100, WorkKind::kNorm, ElementType::kBf16, MatrixUnit::kNo), 19.5);
}

}  // namespace
}  // namespace gapless::internal
