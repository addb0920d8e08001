// SPDX-License-Identifier: Apache-2.0
// Tests table kernels: grouping by name and device, and the limit to complete steps.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Kernels, AreGroupedByNameLargestFirst) {
  testing::HandMade trace;
  trace.Kernel("small", {0, 1, 10, 20});
  trace.Kernel("gemm", {1, 2, 20, 120},
               {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes, .occupancy_pct = 50});
  trace.Kernel("gemm", {2, 3, 120, 150},
               {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes, .occupancy_pct = 100});
  trace.Kernel("gemm", {3, 4, 150, 210}, {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes});
  trace.Copy(CopyKind::kDtoD, {4, 5, 300, 900});
  testing::Analysed run(trace);
  const auto kernels = run["kernels"];
  ASSERT_EQ(kernels.rows(), 2u) << "copies are no kernels";
  EXPECT_EQ(kernels.Text(0, "name"), "gemm");
  EXPECT_EQ(kernels.Text(0, "class"), "gemm");
  EXPECT_EQ(kernels.Text(0, "matrix_unit"), "yes");
  EXPECT_EQ(kernels.Int(0, "calls"), 3);
  EXPECT_EQ(kernels.Int(0, "total_ns"), 190);
  EXPECT_EQ(kernels.Int(0, "mean_ns"), 63);
  EXPECT_EQ(kernels.Int(0, "min_ns"), 30);
  EXPECT_EQ(kernels.Int(0, "p50_ns"), 60);
  EXPECT_EQ(kernels.Int(0, "max_ns"), 100);
  EXPECT_DOUBLE_EQ(kernels.Real(0, "share"), 0.95);
  EXPECT_NEAR(kernels.Real(0, "occupancy_pct"), (50.0 * 100 + 100.0 * 30) / 130, 1e-9) << "the third did not say";
  EXPECT_EQ(kernels.Int(0, "gpu_op_id"), 1) << "the longest";
  EXPECT_TRUE(kernels.IsNull(1, "occupancy_pct"));
}

TEST(Kernels, LongRunsAndThoseOfOptimizersOneByOne) {
  testing::HandMade trace;
  trace.Annotation("Optimizer.step#SGD.step", 100, 300)
      .Operator("aten::mul_", 110, 150)
      .Operator("aten::mul_", 160, 190);
  trace.Kernel("mul", {0, 10, 1000, 31'000});       // outside, long
  trace.Kernel("mul", {120, 130, 31'000, 51'000});  // inside, long
  trace.Kernel("mul", {170, 180, 51'000, 52'000});  // inside, short: its mean is long
  testing::Analysed run(trace);
  EXPECT_EQ(run["kernels"].Int(0, "total_ns"), 51'000);
  EXPECT_EQ(run["kernels"].Int(0, "long_ns"), 50'000);
  EXPECT_EQ(run["kernels"].Int(0, "long_optimizer_ns"), 20'000);
}

TEST(Kernels, OutsideTheCompleteStepsDoNotCount) {
  testing::HandMade trace;
  trace.Step(0, 0, 100, false).Kernel("k", {0, 1, 10, 90}).Step(1, 100, 200).Kernel("k", {100, 101, 110, 120});
  testing::Analysed run(trace);
  EXPECT_EQ(run["kernels"].Int(0, "calls"), 1);
}

TEST(Kernels, EachDeviceHasItsOwnRows) {
  testing::HandMade trace;
  trace.Kernel("k", {0, 1, 10, 90}, {.device = 0}).Kernel("k", {1, 2, 10, 20}, {.device = 1});
  testing::Analysed run(trace);
  ASSERT_EQ(run["kernels"].rows(), 2u);
  EXPECT_EQ(run["kernels"].Int(1, "device"), 1);
  EXPECT_DOUBLE_EQ(run["kernels"].Real(1, "share"), 1);
}

}  // namespace
}  // namespace gapless::internal
