// SPDX-License-Identifier: Apache-2.0
// Tests table kept_memory: what steps allocate and do not give back.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Allocates (bytes > 0) or frees (bytes < 0) host memory.
void Allocation(HandMade& trace, int64_t at, int64_t address, int64_t bytes) {
  trace.shard().Add(MemoryEventRow{.device_type = 0,
                                   .action = bytes > 0 ? MemoryAction::kAlloc : MemoryAction::kFree,
                                   .pid = 1,
                                   .tid = testing::kMain,
                                   .ts_ns = at,
                                   .bytes = bytes,
                                   .address = address});
}

// Adds six steps of 1 µs. Each allocates at train.py:9 and gives back what is allocated there `later` steps later, and
// one allocates at train.py:5 for good.
void AddSteps(HandMade& trace, int64_t later) {
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t begin = step * 1000;
    trace.Step(step, begin, begin + 1000);
    trace.OperatorOn("aten::addmm", begin + 100, begin + 200, {}, testing::kMain, "train.py:9");
    Allocation(trace, begin + 150, 1 + step, 64);
    if (step >= later) Allocation(trace, begin + 900, 1 + step - later, -64);
    trace.OperatorOn("aten::zeros", begin + 300, begin + 400, {}, testing::kMain, "train.py:5");
    if (step == 1) Allocation(trace, begin + 350, 100, 4096);
  }
}

TEST(KeptMemory, IsByTheLineThatAllocates) {
  HandMade trace;
  AddSteps(trace, 100);
  Analysed run(trace);
  const auto table = run["kept_memory"];
  ASSERT_EQ(table.rows(), 1U) << "what one step makes is not kept of every step";
  EXPECT_EQ(table.Text(0, "source_line"), "train.py:9");
  EXPECT_EQ(table.Text(0, "operator"), "aten::addmm");
  EXPECT_TRUE(table.IsNull(0, "device"));
  EXPECT_EQ(table.Int(0, "steps"), 4) << "without the last two";
  EXPECT_EQ(table.Int(0, "bytes"), 256);
  EXPECT_EQ(table.Real(0, "bytes_per_step"), 64);
}

TEST(KeptMemory, IsNotWhatAStepGivesBackItselfOrTheNextOne) {
  for (const int64_t later : {0, 1}) {
    HandMade trace;
    AddSteps(trace, later);
    EXPECT_EQ(Analysed(trace)["kept_memory"].rows(), 0U) << later;
  }
}

}  // namespace
}  // namespace gapless::internal
