// SPDX-License-Identifier: Apache-2.0
// Rules that depend on what a kernel is: mixed precision is advice for float32 off the matrix units alone, and a matrix
// times a vector moves data.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"
#include "diagnose/testing/found.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Find;
using testing::HandMade;

bool AdvisesAnyOf(const Bottleneck& bottleneck, std::string_view fix) {
  return std::any_of(bottleneck.recommendations.begin(), bottleneck.recommendations.end(),
                     [&](const Recommendation& recommendation) { return recommendation.fix.starts_with(fix); });
}

// A step of 1 ms on an A100 that `row` takes 800 µs of, launched by aten::mm on `types`.
Diagnosis DiagnoseStep(GpuOpDraft row, std::string_view types, std::string_view kernel = "kernel") {
  HandMade trace;
  trace.Device({.vendor = Vendor::kNvidia, .name = "NVIDIA A100", .compute_major = 8, .compute_minor = 0});
  trace.Step(0, 0, 1000 * kUs).Operator("aten::mm", 0, 10 * kUs, testing::kMain, types);
  trace.Kernel(kernel, {kUs, 2 * kUs, 3 * kUs, 803 * kUs}, row);
  Analysed run(trace);
  return Diagnose(run.tables());
}

GpuOpDraft OffUnits(KernelPrecision precision) {
  return {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo, .precision = precision};
}

TEST(NoTensorCoresRule, AdvisesMixedPrecisionForFloat32Alone) {
  const Diagnosis float32 = DiagnoseStep(OffUnits(KernelPrecision::kFp32), R"(["float"])");
  ASSERT_NE(Find(float32, "no_tensor_cores"), nullptr);
  EXPECT_TRUE(AdvisesAnyOf(*Find(float32, "no_tensor_cores"), "amp"));
  for (const KernelPrecision other : {KernelPrecision::kFp16, KernelPrecision::kBf16, KernelPrecision::kFp8,
                                      KernelPrecision::kInt8, KernelPrecision::kMixed}) {
    const Diagnosis diagnosis = DiagnoseStep(OffUnits(other), "");
    const Bottleneck* found = Find(diagnosis, "no_tensor_cores");
    if (found == nullptr) continue;
    EXPECT_FALSE(AdvisesAnyOf(*found, "amp")) << ToString(other);
    EXPECT_FALSE(AdvisesAnyOf(*found, "tf32")) << ToString(other);
  }
}

TEST(NoTensorCoresRule, AdvisesDoubleTensorsToBeFloatAndNothingForOtherFloat64) {
  const Diagnosis training = DiagnoseStep(OffUnits(KernelPrecision::kFp64), R"(["double"])");
  ASSERT_NE(Find(training, "no_tensor_cores"), nullptr);
  EXPECT_FALSE(AdvisesAnyOf(*Find(training, "no_tensor_cores"), "amp"));
  const Diagnosis simulation = DiagnoseStep(OffUnits(KernelPrecision::kFp64), "");
  EXPECT_EQ(Find(simulation, "no_tensor_cores"), nullptr);
}

TEST(MemoryBoundRule, AMatrixTimesAVectorMovesData) {
  const GpuOpDraft row{
      .op_class = GpuOpClass::kGemv, .matrix_unit = MatrixUnit::kNo, .precision = KernelPrecision::kFp32};
  const Diagnosis diagnosis = DiagnoseStep(row, R"(["float"])");
  EXPECT_EQ(Find(diagnosis, "no_tensor_cores"), nullptr);
  const Bottleneck* found = Find(diagnosis, "memory_bound");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->evidence[0].text.find("gemv 80"), std::string::npos) << found->evidence[0].text;
  EXPECT_NE(found->recommendations[0].text.find("more rows"), std::string::npos);
  EXPECT_FALSE(AdvisesAnyOf(*found, "amp"));
  EXPECT_FALSE(AdvisesAnyOf(*found, "compile")) << "nothing of it is fused";
}

TEST(MemoryBoundRule, AdvisesToQuantiseWeightsWhereAModelIsServed) {
  const GpuOpDraft row{.op_class = GpuOpClass::kGemv};
  const auto advises = [](const Diagnosis& diagnosis) {
    const Bottleneck* found = Find(diagnosis, "memory_bound");
    return found != nullptr && found->recommendations.back().text.find("quantise the weights") != std::string::npos;
  };
  EXPECT_TRUE(advises(DiagnoseStep(row, "", "gemv_with_paged_attention")));
  EXPECT_FALSE(advises(DiagnoseStep(row, "", "gemv")));
}

// Additions of float32 tensors take 600 µs of 1 ms, products `product_us`.
Diagnosis DiagnoseAdditions(int64_t product_us) {
  HandMade trace;
  trace.Step(0, 0, 1000 * kUs)
      .OperatorOn("aten::add", 0, 10 * kUs,
                  {.shapes = "[[1024,1024],[1024,1024],[]]", .types = R"(["float","float","Scalar"])"});
  trace.Kernel("add", {kUs, 2 * kUs, 3 * kUs, 603 * kUs}, {.op_class = GpuOpClass::kPointwise});
  if (product_us > 0)
    trace.Kernel("gemm", {20 * kUs, 21 * kUs, 700 * kUs, (700 + product_us) * kUs},
                 {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes});
  Analysed run(trace);
  return Diagnose(run.tables());
}

TEST(MemoryBoundRule, AdvisesAutocastWhereProductsAreThatItCanChange) {
  const Diagnosis with = DiagnoseAdditions(200), without = DiagnoseAdditions(0);
  ASSERT_NE(Find(with, "memory_bound"), nullptr);
  EXPECT_TRUE(AdvisesAnyOf(*Find(with, "memory_bound"), "amp"));
  ASSERT_NE(Find(without, "memory_bound"), nullptr);
  EXPECT_FALSE(AdvisesAnyOf(*Find(without, "memory_bound"), "amp")) << "autocast does not touch an addition";
}

}  // namespace
}  // namespace gapless::internal
