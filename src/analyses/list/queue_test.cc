// SPDX-License-Identifier: Apache-2.0
// Tests table queue: the number of launched and not yet started operations, graphs, and full queues.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Queue, LengthIsWhatIsLaunchedAndNotStarted) {
  testing::HandMade trace;  // waits: [0,100), [50,200), [60,300): two at 50, three from 60
  trace.Kernel("a", {0, 10, 100, 200}).Kernel("b", {50, 55, 200, 300}).Kernel("c", {60, 65, 300, 1000});
  testing::Analysed run(trace);
  const auto queue = run["queue"];
  ASSERT_EQ(queue.rows(), 1u);
  EXPECT_EQ(queue.Int(0, "launches"), 3);
  EXPECT_EQ(queue.Int(0, "max_length"), 3);
  EXPECT_DOUBLE_EQ(queue.Real(0, "mean_length"), (100 + 150 + 240) / 1000.0);
  EXPECT_DOUBLE_EQ(queue.Real(0, "empty_share"), 0.7);
  EXPECT_EQ(queue.Int(0, "full_ns"), 0);
}

TEST(Queue, AGraphCountsOnceAndStreamsApart) {
  testing::HandMade trace;
  trace.Kernel("a", {0, 10, 100, 200}).SameLaunch("b", 200, 300).SameLaunch("c", 300, 400);
  trace.Kernel("d", {20, 30, 120, 1000}, {.stream = 5});
  testing::Analysed run(trace);
  const auto queue = run["queue"];
  ASSERT_EQ(queue.rows(), 2u);
  for (size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(queue.Int(row, "launches"), 1);
    EXPECT_EQ(queue.Int(row, "max_length"), 1);
    EXPECT_DOUBLE_EQ(queue.Real(row, "mean_length"), 0.1);
  }
}

TEST(Queue, IsFullFromAThousandAndTwentyFour) {
  testing::HandMade trace;
  for (int64_t i = 0; i < 1100; ++i) trace.Kernel("k", {i, i + 1, 2000 + i, 2001 + i});
  testing::Analysed run(trace);
  EXPECT_EQ(run["queue"].Int(0, "max_length"), 1100);
  EXPECT_EQ(run["queue"].Int(0, "full_ns"), 2076 - 1023) << "from the 1024th launch to the 77th start";
}

TEST(Queue, WorkWithoutALaunchIsNotInIt) {
  testing::HandMade trace;
  trace.Unlaunched("k", 100, 200);
  testing::Analysed run(trace);
  EXPECT_EQ(run["queue"].rows(), 0u);
}

}  // namespace
}  // namespace gapless::internal
