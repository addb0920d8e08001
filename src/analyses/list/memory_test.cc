// SPDX-License-Identifier: Apache-2.0
// Tests tables memory and memory_by_operator: peaks, churn, growth without totals, host memory, and self against total.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

struct Event {
  int64_t ts, bytes, allocated = kAbsent, reserved = kAbsent;
  uint8_t device_type = 1;
};

void Add(HandMade& trace, const Event& event) {
  trace.shard().Add(MemoryEventRow{.device = event.device_type == 0 ? kAbsent32 : 0,
                                   .device_type = event.device_type,
                                   .action = event.bytes > 0 ? MemoryAction::kAlloc : MemoryAction::kFree,
                                   .pid = 1,
                                   .tid = testing::kMain,
                                   .ts_ns = event.ts,
                                   .bytes = event.bytes,
                                   .total_allocated = event.allocated,
                                   .total_reserved = event.reserved});
}

TEST(Memory, PeaksOfTheRecordingAndChurnOfTheSteps) {
  HandMade trace;
  trace.Device({.device = 0, .vendor = Vendor::kNvidia, .memory_bytes = 10'000}).Operator("warm up", 0, 50);
  Add(trace, {10, 900, 5'900, 8'000});
  Add(trace, {20, -900, 5'000, 8'000});
  trace.Step(0, 100, 200).Step(1, 200, 300).Kernel("k", {100, 110, 120, 300});
  Add(trace, {130, 500, 5'500, 9'500});
  Add(trace, {140, -500, 5'000, 9'500});
  Add(trace, {230, 700, 5'700, 9'500});
  Analysed run(trace);
  const auto memory = run["memory"];
  ASSERT_EQ(memory.rows(), 1u);
  EXPECT_EQ(memory.Int(0, "device_bytes"), 10'000);
  EXPECT_EQ(memory.Int(0, "peak_allocated_bytes"), 5'900) << "before the steps: taken all the same";
  EXPECT_EQ(memory.Int(0, "peak_reserved_bytes"), 9'500);
  EXPECT_DOUBLE_EQ(memory.Real(0, "peak_share"), 0.95);
  EXPECT_EQ(memory.Int(0, "unused_at_peak_bytes"), 8'000 - 5'900);
  EXPECT_EQ(memory.Int(0, "peak_growth_bytes"), 900);
  EXPECT_EQ(memory.Int(0, "allocations"), 2);
  EXPECT_DOUBLE_EQ(memory.Real(0, "allocations_per_step"), 1);
  EXPECT_EQ(memory.Int(0, "allocated_bytes"), 1'200);
  EXPECT_DOUBLE_EQ(memory.Real(0, "allocated_bytes_per_step"), 600);
  EXPECT_EQ(memory.Int(0, "memory_event_id"), 0);
}

TEST(Memory, WithoutTotalsOnlyTheGrowthIsKnown) {
  HandMade trace;
  trace.Operator("op", 0, 100);
  Add(trace, {10, 300});
  Add(trace, {20, 400});
  Add(trace, {30, -600});
  Analysed run(trace);
  const auto memory = run["memory"];
  ASSERT_EQ(memory.rows(), 1u);
  for (const std::string_view column :
       {"device_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "peak_share", "unused_at_peak_bytes"})
    EXPECT_TRUE(memory.IsNull(0, column)) << column;
  EXPECT_EQ(memory.Int(0, "peak_growth_bytes"), 700);
  EXPECT_EQ(memory.Int(0, "memory_event_id"), 1);
}

TEST(Memory, OfTheHostComesLastAndHasNoDevice) {
  HandMade trace;
  trace.Operator("op", 0, 100);
  Add(trace, {10, 300, 300, 0, 0});
  Add(trace, {20, 400, 400, 1'000});
  Analysed run(trace);
  const auto memory = run["memory"];
  ASSERT_EQ(memory.rows(), 2u);
  EXPECT_EQ(memory.Int(0, "peak_allocated_bytes"), 400);
  EXPECT_TRUE(memory.IsNull(1, "device"));
  EXPECT_EQ(memory.Int(1, "peak_allocated_bytes"), 300);
  EXPECT_TRUE(memory.IsNull(1, "peak_reserved_bytes"));
}

TEST(MemoryByOperator, SelfAndWithWhatItCalls) {
  HandMade trace;
  trace.Operator("aten::conv2d", 0, 100).Operator("aten::empty", 10, 20).Operator("aten::conv2d", 200, 300);
  trace.Operator("aten::conv2d", 210, 290);
  Add(trace, {15, 1'000});
  Add(trace, {50, 200});
  Add(trace, {60, -200});
  Add(trace, {250, 400});
  Add(trace, {400, 7});
  Analysed run(trace);
  const auto table = run["memory_by_operator"];
  const auto of = [&](std::string_view name, std::string_view column) {
    return testing::IntWhere(table, "operator", name, column);
  };
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.Text(0, "operator"), "aten::empty");
  EXPECT_EQ(of("aten::conv2d", "calls"), 3);
  EXPECT_EQ(of("aten::conv2d", "allocations"), 3) << "one inside another of its name counts once";
  EXPECT_EQ(of("aten::conv2d", "self_allocations"), 2);
  EXPECT_EQ(of("aten::conv2d", "allocated_bytes"), 1'600);
  EXPECT_EQ(of("aten::conv2d", "self_allocated_bytes"), 600);
  EXPECT_EQ(of("aten::conv2d", "increase_bytes"), 1'400);
  EXPECT_EQ(of("aten::conv2d", "self_increase_bytes"), 400);
  EXPECT_EQ(of("aten::empty", "allocations"), 1);
  EXPECT_EQ(of("aten::empty", "slice_id"), 1);
  EXPECT_TRUE(table.IsNull(2, "operator")) << "the last event is outside of all operators";
  EXPECT_TRUE(table.IsNull(2, "calls"));
  EXPECT_EQ(table.Int(2, "allocated_bytes"), 7);
}

}  // namespace
}  // namespace gapless::internal
