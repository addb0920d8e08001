// SPDX-License-Identifier: Apache-2.0
// Memory that changes would free: the layers of a loop are told apart by their stacks, what must stay is taken off, and
// what is not known has no row.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr std::string_view kModule = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";

// A model whose forward() runs layers in a loop, each of two linear modules and a sum, and then a head.
class Model {
 public:
  Model() {
    const StackId train = Frame({}, "/srv/train.py", 30, "train");
    model_ = Call(train);
    forward_ = Frame(model_, "/srv/model.py", 40, "forward");
    layers_ = Call(forward_);
    const StackId layer = Frame(layers_, "/srv/model.py", 12, "forward");
    up_ = Frame(Call(layer), "/srv/model.py", 5, "forward");
    down_ = Frame(Call(Frame(layers_, "/srv/model.py", 13, "forward")), "/srv/model.py", 5, "forward");
    sum_ = Frame(layers_, "/srv/model.py", 14, "forward");
    head_ = Frame(Call(Frame(model_, "/srv/model.py", 42, "forward")), "/srv/model.py", 5, "forward");
  }
  Model& Layers(int count) {
    for (int i = 0; i < count; ++i) Make(up_, 6 * kMiB), Make(down_, 2 * kMiB), Make(sum_, kMiB);
    return *this;
  }
  Model& HalfALayer() { return Make(up_, 6 * kMiB); }
  Model& Head() { return Make(head_, 3 * kMiB); }
  Model& Make(StackId stack, int64_t bytes, std::string_view category = "activation") {
    now_ += 10, in_use_ += bytes;
    Event(bytes, category);
    trace.builder().AddMemoryBlock({.device = 0,
                                    .address = now_,
                                    .bytes = bytes,
                                    .alloc_ts_ns = now_,
                                    .state = "active_allocated",
                                    .stack = stack,
                                    .category = category,
                                    .segment = 1,
                                    .requested_bytes = bytes});
    return *this;
  }
  // Allocates memory and frees it at once: a moment in which a category holds nothing.
  Model& Pass(int64_t bytes) {
    now_ += 10, in_use_ += bytes, Event(bytes, "temporary");
    now_ += 10, in_use_ -= bytes, Event(-bytes, "temporary");
    return *this;
  }
  Model& Hold(int64_t reserved) { return reserved_ = reserved, *this; }
  StackId head() const { return head_; }
  HandMade trace;

 private:
  StackId Frame(StackId parent, std::string_view file, int64_t line, std::string_view function) {
    return trace.builder().AddFrame({.parent = parent, .file = file, .line = line, .function = function});
  }
  StackId Call(StackId parent) {
    return Frame(Frame(parent, kModule, 1751, "_wrapped_call_impl"), kModule, 1762, "_call_impl");
  }
  void Event(int64_t bytes, std::string_view category) {
    trace.shard().Add(MemoryEventRow{.device = 0,
                                     .device_type = 1,
                                     .action = bytes > 0 ? MemoryAction::kAlloc : MemoryAction::kFree,
                                     .pid = 1,
                                     .tid = testing::kMain,
                                     .ts_ns = now_,
                                     .bytes = bytes,
                                     .total_allocated = in_use_,
                                     .total_reserved = reserved_,
                                     .category = trace.shard().Text(category)});
  }
  StackId model_, forward_, layers_, up_, down_, sum_, head_;
  int64_t now_ = 0, in_use_ = 0, reserved_ = kAbsent;
};

int64_t Of(Analysed& run, std::string_view change, std::string_view column) {
  return IntWhere(run["memory_savings"], "change", change, column);
}

// Four layers of 9 MiB: each keeps the 1 MiB that it hands on, and one of them is there while it is computed again.
TEST(MemorySavings, LayersKeepTheirInputsAndOneIsMadeAgain) {
  Model model;
  model.Layers(4).Head();
  Analysed run(model.trace);
  EXPECT_EQ(Of(run, "checkpoint", "held_bytes"), 39 * kMiB);
  EXPECT_EQ(Of(run, "checkpoint", "freed_bytes"), (4 - 1) * 8 * kMiB);
  EXPECT_EQ(Of(run, "checkpoint", "modules"), 4);  // not the head, which frees nothing
  EXPECT_EQ(run["memory_savings"].Text(0, "source_line"), "/srv/model.py:40");
  EXPECT_EQ(run["memory_savings"].Text(0, "bound"), "estimate");
}

// In the backward pass the last layer has lost a part: it begins where it began.
TEST(MemorySavings, ALayerThatLostAPartIsALayer) {
  Model model;
  model.Layers(3).HalfALayer();
  Analysed run(model.trace);
  EXPECT_EQ(Of(run, "checkpoint", "freed_bytes"), (3 - 1) * 8 * kMiB);
  EXPECT_EQ(Of(run, "checkpoint", "modules"), 4);
}

// If nothing but layers lives at the peak, the model looks as often called as they are: the line is the loop's.
TEST(MemorySavings, TheLineIsTheOneThatCallsTheLayers) {
  Model model;
  model.Layers(3);
  Analysed run(model.trace);
  EXPECT_EQ(Of(run, "checkpoint", "freed_bytes"), 2 * 8 * kMiB);
  EXPECT_EQ(run["memory_savings"].Text(0, "source_line"), "/srv/model.py:40");
}

TEST(MemorySavings, OthersAreParts) {
  Model model;
  model.Layers(2).Make(StackId(), 20 * kMiB, "optimizer_state").Make(model.head(), 100);
  Analysed run(model.trace);
  EXPECT_EQ(Of(run, "amp", "freed_bytes"), (18 * kMiB + 100) / 2);
  EXPECT_EQ(Of(run, "offload", "freed_bytes"), 12 * kMiB);  // but one of 6 MiB, and the small one
  EXPECT_EQ(Of(run, "offload_optimizer", "freed_bytes"), 20 * kMiB);
  EXPECT_EQ(Of(run, "allocator", "freed_bytes"), kAbsent);  // what is held was not recorded
}

// Another moment becomes the highest: with 18 MiB of activations at the peak of 18, one of 15 without any stays.
TEST(MemorySavings, AnotherMomentBecomesTheHighest) {
  Model model;
  model.Pass(15 * kMiB).Layers(2);
  Analysed run(model.trace);
  EXPECT_EQ(Of(run, "amp", "freed_bytes"), 9 * kMiB);
  EXPECT_EQ(Of(run, "amp", "peak_drop_bytes"), 3 * kMiB);
}

TEST(MemorySavings, TheAllocatorHoldsMoreThanIsUsed) {
  Model held;
  held.Hold(40 * kMiB).Layers(4);
  Analysed run(held.trace);
  EXPECT_EQ(Of(run, "allocator", "freed_bytes"), 4 * kMiB);
  Model extended;
  extended.trace.Environment("allocator.expandable_segments", "true");
  extended.Hold(40 * kMiB).Layers(4);
  Analysed other(extended.trace);
  EXPECT_EQ(Of(other, "allocator", "freed_bytes"), kAbsent);
}

TEST(MemorySavings, WithoutCategoriesNothingIsKnown) {
  Model model;
  model.Make(model.head(), 4 * kMiB, "").Make(StackId(), kMiB, "parameter");
  Analysed run(model.trace);
  EXPECT_EQ(run["memory_savings"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
