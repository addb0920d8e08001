// SPDX-License-Identifier: Apache-2.0
// Tests table communication: sums by device and by kind of collective.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::kComm;

TEST(Communication, OfADeviceWholeAndByKind) {
  testing::HandMade trace;
  trace.Kernel("gemm", {0, 5, 100, 500});
  trace.Kernel("nccl", {6, 7, 400, 600}, kComm).Collective("all_reduce", 400, 600, 1'000);
  trace.Kernel("nccl", {8, 9, 700, 800}, kComm).Collective("all_gather", 700, 800, 2'000);
  testing::Analysed run(trace);
  const auto communication = run["communication"];
  ASSERT_EQ(communication.rows(), 3u);
  EXPECT_TRUE(communication.IsNull(0, "kind"));
  EXPECT_EQ(communication.Int(0, "calls"), 2);
  EXPECT_EQ(communication.Int(0, "bytes"), 3'000);
  EXPECT_EQ(communication.Int(0, "total_ns"), 300);
  EXPECT_EQ(communication.Int(0, "exposed_ns"), 200);
  EXPECT_NEAR(communication.Real(0, "overlap_share"), 1.0 / 3, 1e-12);
  EXPECT_EQ(testing::IntWhere(communication, "kind", "all_reduce", "exposed_ns"), 100);
  EXPECT_EQ(communication.Text(1, "kind"), "all_gather");
  EXPECT_DOUBLE_EQ(communication.Real(1, "bus_gbps"), 2'000 * 0.5 / 100) << "two ranks: each passes on half";
}

TEST(Communication, KernelsWhoseCollectiveWasNotToldCountInTheWhole) {
  testing::HandMade trace;
  trace.Kernel("nccl", {0, 7, 400, 600}, kComm);
  testing::Analysed run(trace);
  ASSERT_EQ(run["communication"].rows(), 1u);
  EXPECT_EQ(run["communication"].Int(0, "total_ns"), 200);
  EXPECT_TRUE(run["communication"].IsNull(0, "bytes"));
}

TEST(Communication, ADeviceWithoutItHasNoRow) {
  testing::HandMade trace;
  trace.Kernel("gemm", {0, 5, 100, 500});
  EXPECT_EQ(testing::Analysed(trace)["communication"].rows(), 0u);
}

}  // namespace
}  // namespace gapless::internal
