// SPDX-License-Identifier: Apache-2.0
// The memory that the allocator holds around the tensors when a snapshot was taken.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

void AddBlock(HandMade& trace, int64_t segment, int64_t bytes, std::string_view state) {
  trace.builder().AddMemoryBlock({.device = 0, .address = segment, .bytes = bytes, .state = state, .segment = segment});
}

// The first segment holds two tensors and 14 bytes that are stuck between them; the second holds nothing.
TEST(MemorySegments, WhatIsStuckLiesInSegmentsThatHoldSomething) {
  HandMade trace;
  trace.Operator("op", 0, 100);
  AddBlock(trace, 1, 40, "active_allocated"), AddBlock(trace, 1, 14, "inactive"),
      AddBlock(trace, 1, 10, "active_pending_free");
  AddBlock(trace, 64, 36, "inactive");
  Analysed run(trace);
  const auto rows = run["memory_segments"];
  ASSERT_EQ(rows.rows(), 1U);
  EXPECT_EQ(rows.Int(0, "segments"), 2);
  EXPECT_EQ(rows.Int(0, "reserved_bytes"), 100);
  EXPECT_EQ(rows.Int(0, "active_bytes"), 50);
  EXPECT_EQ(rows.Int(0, "stuck_bytes"), 14);
  EXPECT_EQ(rows.Int(0, "returnable_bytes"), 36);
  EXPECT_EQ(rows.Int(0, "largest_free_bytes"), 36);
  EXPECT_DOUBLE_EQ(rows.Real(0, "stuck_share"), 0.14);
  EXPECT_EQ(rows.Int(0, "oom_events"), 0);
  EXPECT_TRUE(rows.IsNull(0, "oom_bytes"));
}

TEST(MemorySegments, AFailedAllocationIsCountedWithItsSize) {
  HandMade trace;
  AddBlock(trace, 1, 40, "active_allocated");
  trace.shard().Add(MemoryEventRow{.device = 0,
                                   .device_type = 1,
                                   .action = MemoryAction::kOom,
                                   .pid = 1,
                                   .tid = testing::kMain,
                                   .ts_ns = 5,
                                   .bytes = 900});
  Analysed run(trace);
  EXPECT_EQ(run["memory_segments"].Int(0, "oom_events"), 1);
  EXPECT_EQ(run["memory_segments"].Int(0, "oom_bytes"), 900);
}

}  // namespace
}  // namespace gapless::internal
