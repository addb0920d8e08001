// SPDX-License-Identifier: Apache-2.0
// The snapshot of tests/rules/memory_snapshot.py: lifetimes, totals, stacks, and what the stacks say the memory holds.
#include <gtest/gtest.h>

#include <map>

#include "ingest/readers/torch_memory/places.h"
#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

using torch_memory::Place;
using torch_memory::PlaceOf;

constexpr int64_t kMib = 1 << 20;

Trace ReadSample() {
  auto source = OpenFile("tests/data/memory_snapshot.pickle");
  EXPECT_TRUE(source);
  return testing::ReadFrom(**source);
}

TEST(TorchMemory, BlocksHaveLifetimes) {
  const Trace trace = ReadSample();
  const MemoryBlockTable& blocks = trace.memory_blocks;
  std::map<std::string, int> states;
  for (size_t row = 0; row < blocks.size(); ++row) {
    const std::string state(trace.Text(blocks.state[row]));
    ++states[state];
    EXPECT_EQ(blocks.free_ts_ns[row] != kAbsent, state == "freed");
    EXPECT_EQ(blocks.segment[row] == kAbsent, state == "freed");
    EXPECT_EQ(blocks.alloc_ts_ns[row] == kAbsent, state == "inactive");
  }
  EXPECT_EQ(states, (std::map<std::string, int>{{"active_allocated", 4}, {"freed", 2}, {"inactive", 1}}));
}

// 450 MiB before the last free, 440 when the snapshot was taken.
TEST(TorchMemory, TotalsFollowFromTheEnd) {
  const Trace trace = ReadSample();
  const MemoryEventTable& events = trace.memory_events;
  int64_t most = 0;
  for (size_t row = 0; row < events.size(); ++row) most = std::max(most, events.total_allocated[row]);
  EXPECT_EQ(most, 450 * kMib);
  ASSERT_GT(events.size(), 0U);
  EXPECT_EQ(events.total_allocated[events.size() - 1], 440 * kMib);
  EXPECT_EQ(events.total_reserved[events.size() - 1], 640 * kMib);
  EXPECT_EQ(events.action[events.size() - 1], MemoryAction::kOom);
  EXPECT_EQ(events.bytes[events.size() - 1], 500 * kMib);
}

TEST(TorchMemory, EqualStacksAreOneRowAndCallersComeFirst) {
  const Trace trace = ReadSample();
  const StackTable& stacks = trace.stacks;
  EXPECT_EQ(stacks.size(), 11U);
  for (size_t row = 0; row < stacks.size(); ++row)
    EXPECT_TRUE(!stacks.parent[row].valid() || stacks.parent[row].value < row);
}

TEST(TorchMemory, CategoriesFollowFromStackAndLifetime) {
  const Trace trace = ReadSample();
  std::map<std::string, int64_t> bytes;
  for (size_t row = 0; row < trace.memory_blocks.size(); ++row)
    bytes[std::string(trace.Text(trace.memory_blocks.category[row]))] += trace.memory_blocks.bytes[row] / kMib;
  // The first forward block outlives the start of a backward pass; the second is freed before one allocates.
  EXPECT_EQ(bytes, (std::map<std::string, int64_t>{{"", 200},
                                                   {"activation", 400},
                                                   {"gradient", 20},
                                                   {"optimizer_state", 80},
                                                   {"parameter", 40},
                                                   {"temporary", 10}}));
}

TEST(TorchMemory, FramesSayInWhichPartOfATrainingTheyAre) {
  EXPECT_EQ(PlaceOf("_call_impl", R"(D:\x\.venv\Lib\site-packages\torch\nn\modules\module.py)"), Place::kForward);
  EXPECT_EQ(PlaceOf("torch::autograd::Engine::thread_main(std::shared_ptr<…>)", ""), Place::kBackward);
  EXPECT_EQ(PlaceOf("step", "/usr/lib/torch/optim/sgd.py"), Place::kOptimizer);
  EXPECT_EQ(PlaceOf("_apply", "/usr/lib/torch/nn/modules/module.py"), Place::kModule);
  EXPECT_EQ(PlaceOf("backward", "/home/user/own.py"), Place::kUnknown);
}

TEST(TorchMemory, APickleOfSomethingElseIsNone) {
  MemorySource source("\x80\x04}q\x00X\x05\x00\x00\x00otherq\x01K\x01s.");
  ThreadPool pool(1);
  EXPECT_FALSE(ReadTrace(source, {.pool = pool}));
}

}  // namespace
}  // namespace gapless::internal
