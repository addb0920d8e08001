// SPDX-License-Identifier: Apache-2.0
// Memory that lives at the peak adds up to it, by what it holds and who made it.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// 100 bytes of before the recording, a weight of 40, a temporary of 30 that is gone before the peak at 200, an
// activation of 60 that makes it, and one of 10 behind it.
class Snapshot {
 public:
  Snapshot() {
    const StackId main =
        builder().AddFrame({.parent = StackId(), .file = "/srv/train.py", .line = 8, .function = "main"});
    const StackId layer = builder().AddFrame({.parent = main,
                                              .file = "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py",
                                              .line = 125,
                                              .function = "forward"});
    Alloc(100, 40, main), Alloc(110, 30, layer), Free(120, 30), Alloc(200, 60, layer), Free(210, 60),
        Alloc(220, 10, layer);
    Block({.device = 0,
           .address = 1,
           .bytes = 40,
           .alloc_ts_ns = 100,
           .state = "active_allocated",
           .stack = main,
           .category = "parameter"});
    Block({.device = 0,
           .address = 2,
           .bytes = 30,
           .alloc_ts_ns = 110,
           .free_ts_ns = 120,
           .state = "freed",
           .stack = layer,
           .category = "temporary"});
    Block({.device = 0,
           .address = 3,
           .bytes = 60,
           .alloc_ts_ns = 200,
           .free_ts_ns = 210,
           .state = "freed",
           .stack = layer,
           .category = "activation"});
    Block({.device = 0,
           .address = 4,
           .bytes = 10,
           .alloc_ts_ns = 220,
           .state = "active_allocated",
           .stack = layer,
           .category = "activation"});
    Block({.device = 0, .address = 5, .bytes = 14, .state = "inactive"});
    Block({.device = 0, .address = 64, .bytes = 36, .state = "inactive", .segment = 64});
  }
  HandMade trace;

 private:
  TraceBuilder& builder() { return trace.builder(); }
  void Event(MemoryAction action, int64_t ts, int64_t bytes, StackId stack) {
    in_use_ += bytes;
    trace.shard().Add(MemoryEventRow{.device = 0,
                                     .device_type = 1,
                                     .action = action,
                                     .pid = 1,
                                     .tid = testing::kMain,
                                     .ts_ns = ts,
                                     .bytes = bytes,
                                     .total_allocated = in_use_,
                                     .stack = stack});
  }
  void Alloc(int64_t ts, int64_t bytes, StackId stack) { Event(MemoryAction::kAlloc, ts, bytes, stack); }
  void Free(int64_t ts, int64_t bytes) { Event(MemoryAction::kFree, ts, -bytes, StackId()); }
  void Block(MemoryBlockRow row) {
    if (row.state != "freed" && row.segment == kAbsent) row.segment = 1;
    if (row.state != "inactive") row.requested_bytes = row.bytes;
    builder().AddMemoryBlock(row);
  }
  int64_t in_use_ = 100;
};

TEST(MemoryAtPeak, AddsUpToThePeak) {
  Snapshot snapshot;
  Analysed run(snapshot.trace);
  const auto rows = run["memory_at_peak"];
  ASSERT_EQ(rows.rows(), 3U);
  EXPECT_TRUE(rows.IsNull(0, "category") && rows.IsNull(0, "blocks") && rows.IsNull(0, "source_line"));
  EXPECT_EQ(rows.Int(0, "bytes"), 100);
  EXPECT_EQ(rows.Text(1, "category"), "activation");
  EXPECT_EQ(rows.Int(1, "bytes"), 60);
  EXPECT_EQ(rows.Text(2, "category"), "parameter");
  EXPECT_DOUBLE_EQ(rows.Real(2, "share"), 40.0 / 200);
}

// The line is the program's own, however deep the packages below it are.
TEST(MemoryAtPeak, TheLineIsTheProgramsOwn) {
  Snapshot snapshot;
  Analysed run(snapshot.trace);
  EXPECT_EQ(run["memory_at_peak"].Text(1, "source_line"), "/srv/train.py:8");
  EXPECT_EQ(run["memory_at_peak"].Text(1, "function"), "main");
}

}  // namespace
}  // namespace gapless::internal
