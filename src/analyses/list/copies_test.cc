// SPDX-License-Identifier: Apache-2.0
// Tests table copies: bandwidth and exposed time by kind of copy, and fills.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Copies, ByKindWithBandwidthAndWhatIsExposed) {
  testing::HandMade trace;
  trace.Copy(CopyKind::kHtoDPageable, {0, 5, 10, 110}, {.stream = 1, .bytes = 800});
  trace.Copy(CopyKind::kHtoDPageable, {6, 9, 200, 300}, {.stream = 1, .bytes = 1'200});
  trace.Kernel("gemm", {10, 20, 50, 250}, {.stream = 2});
  trace.Copy(CopyKind::kDtoHPinned, {21, 22, 300, 320});
  testing::Analysed run(trace);
  const auto copies = run["copies"];
  ASSERT_EQ(copies.rows(), 2u);
  EXPECT_EQ(copies.Text(0, "kind"), "h2d_pageable");
  EXPECT_EQ(copies.Int(0, "pageable"), 1);
  EXPECT_EQ(copies.Int(0, "calls"), 2);
  EXPECT_EQ(copies.Int(0, "bytes"), 2'000);
  EXPECT_EQ(copies.Int(0, "total_ns"), 200);
  EXPECT_EQ(copies.Int(0, "exposed_ns"), 40 + 50);
  EXPECT_DOUBLE_EQ(copies.Real(0, "overlap_share"), (60 + 50) / 200.0);
  EXPECT_DOUBLE_EQ(copies.Real(0, "mean_gbps"), 10);
  EXPECT_EQ(copies.Text(1, "kind"), "d2h_pinned");
  EXPECT_EQ(copies.Int(1, "pageable"), 0);
  EXPECT_TRUE(copies.IsNull(1, "bytes")) << "not recorded";
  EXPECT_TRUE(copies.IsNull(1, "mean_gbps"));
}

TEST(Copies, FillsAreAKindOfTheirOwn) {
  testing::HandMade trace;
  trace.Unlaunched("Memset", 0, 10, {.kind = GpuOpKind::kMemset, .bytes = 5}).Copy(CopyKind::kDtoD, {0, 1, 10, 20});
  testing::Analysed run(trace);
  EXPECT_EQ(testing::IntWhere(run["copies"], "kind", "memset", "bytes"), 5);
  EXPECT_EQ(testing::IntWhere(run["copies"], "kind", "memset", "pageable"), kAbsent);
  EXPECT_EQ(testing::IntWhere(run["copies"], "kind", "d2d", "pageable"), kAbsent);
}

}  // namespace
}  // namespace gapless::internal
