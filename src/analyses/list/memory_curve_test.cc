// SPDX-License-Identifier: Apache-2.0
// Tests table memory_curve: all events if there are few, else the minimum and maximum of each stretch, and host memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

void Add(HandMade& trace, int64_t ts, int64_t bytes, int64_t total = kAbsent, uint8_t device_type = 1) {
  trace.shard().Add(MemoryEventRow{.device = device_type == 0 ? kAbsent32 : 0,
                                   .device_type = device_type,
                                   .action = bytes > 0 ? MemoryAction::kAlloc : MemoryAction::kFree,
                                   .pid = 1,
                                   .tid = testing::kMain,
                                   .ts_ns = ts,
                                   .bytes = bytes,
                                   .total_allocated = total});
}

TEST(MemoryCurve, FewEventsAreAllThere) {
  HandMade trace;
  trace.Operator("op", 0, 1'000'000);
  Add(trace, 10'000, 500, 1'500);
  Add(trace, 500'000, 300, 1'800);
  Add(trace, 900'000, -500, 1'300);
  Analysed run(trace);
  const auto curve = run["memory_curve"];
  ASSERT_EQ(curve.rows(), 3u);
  EXPECT_EQ(curve.Int(1, "ts_ns"), 500'000);
  EXPECT_EQ(curve.Int(1, "growth_bytes"), 800);
  EXPECT_EQ(curve.Int(1, "allocated_bytes"), 1'800);
  EXPECT_TRUE(curve.IsNull(1, "reserved_bytes")) << "not recorded";
  EXPECT_EQ(curve.Int(2, "memory_event_id"), 2);
}

TEST(MemoryCurve, OfManyEventsEachStretchKeepsItsLeastAndItsMost) {
  HandMade trace;
  constexpr int64_t kPairs = 20'000;
  trace.Operator("op", 0, kPairs * 100);
  for (int64_t i = 0; i < kPairs; ++i) {
    Add(trace, i * 100, i == 12'345 ? 9'000 : 1'000);
    Add(trace, i * 100 + 50, i == 12'345 ? -9'000 : -1'000);
  }
  Analysed run(trace);
  const auto curve = run["memory_curve"];
  EXPECT_LE(curve.rows(), 802u);
  int64_t most = 0, previous = -1;
  for (size_t row = 0; row < curve.rows(); ++row) {
    most = std::max(most, curve.Int(row, "growth_bytes"));
    EXPECT_GT(curve.Int(row, "ts_ns"), previous) << "in order of time";
    previous = curve.Int(row, "ts_ns");
  }
  EXPECT_EQ(most, 9'000) << "the peak is among the points";
  EXPECT_EQ(most, run["memory"].Int(0, "peak_growth_bytes"));
}

TEST(MemoryCurve, HostMemoryIsACurveOfItsOwn) {
  HandMade trace;
  trace.Operator("op", 0, 100);
  Add(trace, 10, 500);
  Add(trace, 20, 70, kAbsent, 0);
  Analysed run(trace);
  const auto curve = run["memory_curve"];
  ASSERT_EQ(curve.rows(), 2u);
  EXPECT_TRUE(curve.IsNull(0, "device"));
  EXPECT_EQ(curve.Int(0, "growth_bytes"), 70);
  EXPECT_EQ(curve.Int(1, "device"), 0);
  EXPECT_EQ(curve.Int(1, "growth_bytes"), 500);
}

}  // namespace
}  // namespace gapless::internal
