// SPDX-License-Identifier: Apache-2.0
// Tests table syncs: the idle time that each synchronisation costs, by call, operator and line.
#include <gtest/gtest.h>

#include "analyses/copy_kinds.h"
#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Syncs, AreGroupedByCallOperatorAndLine) {
  testing::HandMade trace;
  trace.Step(0, 0, 1000).Step(1, 1000, 2000);
  for (const int64_t t : {0, 1000}) {
    trace.Kernel("k", {t, t + 10, t + 20, t + 300});
    trace.Operator("aten::item", t + 100, t + 320)
        .Call("cudaStreamSynchronize", ApiKind::kStreamSync, t + 110, t + 310, testing::kMain, "train.py:9");
    trace.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, t + 900, t + 905, testing::kMain, "train.py:12");
  }
  testing::Analysed run(trace);
  const auto syncs = run["syncs"];
  ASSERT_EQ(syncs.rows(), 2u);
  EXPECT_EQ(syncs.Text(0, "operator"), "aten::item") << "the longest wait first";
  EXPECT_EQ(syncs.Text(0, "kind"), "stream");
  EXPECT_EQ(syncs.Text(0, "call"), "cudaStreamSynchronize");
  EXPECT_EQ(syncs.Text(0, "source_line"), "train.py:9");
  EXPECT_EQ(syncs.Int(0, "calls"), 2);
  EXPECT_DOUBLE_EQ(syncs.Real(0, "calls_per_step"), 1);
  EXPECT_EQ(syncs.Int(0, "wait_ns"), 400);
  EXPECT_EQ(syncs.Int(0, "mean_wait_ns"), 200);
  EXPECT_TRUE(syncs.IsNull(1, "operator"));
}

TEST(Syncs, WhatTheyCostIsTheIdleTimeThatFollows) {
  testing::HandMade trace;
  trace.Kernel("k", {0, 10, 20, 300}).Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 100, 310);
  trace.Loader(310, 400).Kernel("next", {500, 510, 520, 600});
  testing::Analysed run(trace);
  const auto syncs = run["syncs"];
  EXPECT_EQ(syncs.Int(0, "drained"), 1);
  EXPECT_EQ(syncs.Int(0, "idle_after_ns"), 220 - 90) << "300 to 520, without the loader";
}

TEST(Syncs, NotWaitingSavesNoMoreThanTheWaitTook) {
  testing::HandMade trace;
  trace.Kernel("k", {0, 10, 20, 300}).Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 280, 310);
  trace.Kernel("next", {500, 510, 520, 600});
  testing::Analysed run(trace);
  EXPECT_EQ(run["syncs"].Int(0, "idle_after_ns"), 220);
  EXPECT_EQ(run["syncs"].Int(0, "avoidable_ns"), 30) << "the host would have come to its next launch at 470";
}

TEST(Syncs, WhatWasQueuedBeforeTheGapDidNotWaitForTheHost) {
  testing::HandMade trace;  // "next" is launched early and starts late, for a reason that is not recorded
  trace.Kernel("k", {0, 10, 20, 300}).Kernel("next", {20, 30, 200'000, 200'100});
  trace.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 100, 200'100);
  testing::Analysed run(trace);
  EXPECT_EQ(run["syncs"].Int(0, "drained"), 1);
  EXPECT_EQ(run["syncs"].Int(0, "idle_after_ns"), 0);
}

TEST(Syncs, ALargeCopyAtWorkAfterTheWaitIsNotItsCost) {
  for (const int64_t bytes : {4, 1'000'000}) {
    testing::HandMade trace;
    trace.Kernel("k", {0, 10, 20, 300}).Call("cudaStreamSynchronize", ApiKind::kStreamSync, 100, 310);
    trace.Copy(CopyKind::kHtoDPageable, {350, 450, 440, 500}, {.bytes = bytes}).Kernel("next", {460, 470, 500, 600});
    testing::Analysed run(trace);
    EXPECT_EQ(run["syncs"].Int(0, "idle_after_ns"), bytes > kSmallCopyBytes ? 50 : 140) << "350 to 440: the copy";
  }
}

TEST(Syncs, AWaitWithMoreWorkQueuedCostsNothing) {
  testing::HandMade trace;
  trace.Kernel("a", {0, 10, 20, 300})
      .Kernel("b", {10, 20, 300, 900})
      .Call("cudaEventSynchronize", ApiKind::kEventSync, 100, 310);
  testing::Analysed run(trace);
  EXPECT_EQ(run["syncs"].Int(0, "drained"), 0);
  EXPECT_EQ(run["syncs"].Int(0, "idle_after_ns"), 0);
}

TEST(Syncs, AWaitThatIsOverBeforeTheDeviceRunsDryIsNotToBlame) {
  testing::HandMade trace;
  trace.Kernel("a", {0, 10, 20, 300}).Call("cudaEventSynchronize", ApiKind::kEventSync, 30, 250);
  trace.Kernel("b", {500, 510, 520, 600});
  testing::Analysed run(trace);
  EXPECT_EQ(run["syncs"].Int(0, "drained"), 0);
}

}  // namespace
}  // namespace gapless::internal
