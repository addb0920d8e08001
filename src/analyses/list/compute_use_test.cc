// SPDX-License-Identifier: Apache-2.0
// Tests table compute_use: utilisation over the whole window, and NULL for unknown values.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::kMatrixKernel;
using testing::kProduct;
using testing::kProductFlops;
using testing::OnA100;

TEST(ComputeUse, UtilisationIsOverTheWholeWindow) {
  OnA100 trace;
  trace.Step(0, 0, 100'000).OperatorOn("aten::mm", 0, 100, kProduct);
  trace.Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel);
  trace.Operator("aten::bmm", 100, 200).Kernel("gemm", {110, 120, 11'000, 16'000}, kMatrixKernel);
  testing::Analysed run(trace);
  const auto use = run["compute_use"];
  ASSERT_EQ(use.rows(), 1u);
  EXPECT_DOUBLE_EQ(use.Real(0, "flops_per_step"), kProductFlops);
  EXPECT_DOUBLE_EQ(use.Real(0, "tflops"), kProductFlops / 100'000 / 1e3);
  EXPECT_DOUBLE_EQ(use.Real(0, "mfu"), kProductFlops / 100'000 / 312e3);
  EXPECT_EQ(use.Text(0, "dtype"), "bf16");
  EXPECT_NEAR(use.Real(0, "coverage_share"), 2.0 / 3, 1e-12) << "the second product's shapes were not recorded";
}

TEST(ComputeUse, NothingKnownIsNull) {
  OnA100 trace;
  trace.Operator("aten::mm", 0, 100).Kernel("gemm", {10, 20, 1000, 11'000}, kMatrixKernel);
  testing::Analysed run(trace);
  for (const std::string_view column : {"flops", "tflops", "mfu", "dtype"})
    EXPECT_TRUE(run["compute_use"].IsNull(0, column)) << column;
  EXPECT_EQ(run["compute_use"].Real(0, "coverage_share"), 0);
}

}  // namespace
}  // namespace gapless::internal
