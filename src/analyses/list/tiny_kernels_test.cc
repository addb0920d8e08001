// SPDX-License-Identifier: Apache-2.0
// Tests table tiny_kernels: short kernels by operator with the gaps between them.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(TinyKernels, ByOperatorWithTheGapsBetweenThem) {
  testing::HandMade trace;
  trace.Step(0, 0, 100'000).Operator("aten::add", 0, 3'000);
  trace.Kernel("k", {100, 200, 10'000, 14'000}).Kernel("k", {300, 400, 16'000, 19'000});
  trace.Kernel("k", {500, 600, 31'000, 50'000});
  testing::Analysed run(trace);
  const auto tiny = run["tiny_kernels"];
  ASSERT_EQ(tiny.rows(), 1u);
  EXPECT_EQ(tiny.Text(0, "operator"), "aten::add");
  EXPECT_EQ(tiny.Int(0, "kernels"), 3);
  EXPECT_EQ(tiny.Int(0, "short_kernels"), 2);
  EXPECT_DOUBLE_EQ(tiny.Real(0, "short_per_step"), 2);
  EXPECT_EQ(tiny.Int(0, "short_ns"), 7'000);
  EXPECT_EQ(tiny.Int(0, "gap_ns"), 2'000) << "the gap of 12 µs before the long one is no part of it";
  EXPECT_EQ(tiny.Int(0, "mean_ns"), 3'500);
}

TEST(TinyKernels, CommunicationAndCopiesAreNone) {
  testing::HandMade trace;
  trace.Kernel("nccl", {0, 10, 20, 30}, {.op_class = GpuOpClass::kCommunication});
  trace.Copy(CopyKind::kHtoDPinned, {40, 50, 60, 70});
  testing::Analysed run(trace);
  EXPECT_EQ(run["tiny_kernels"].rows(), 0u);
}

TEST(TinyKernels, WithoutAnOperatorTheNameIsAbsent) {
  testing::HandMade trace;
  trace.Kernel("k", {0, 10, 20, 30});
  testing::Analysed run(trace);
  EXPECT_TRUE(run["tiny_kernels"].IsNull(0, "operator"));
  EXPECT_TRUE(run["tiny_kernels"].IsNull(0, "short_per_step"));
  EXPECT_TRUE(run["tiny_kernels"].IsNull(0, "slice_id"));
}

}  // namespace
}  // namespace gapless::internal
