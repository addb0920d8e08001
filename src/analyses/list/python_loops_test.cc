// SPDX-License-Identifier: Apache-2.0
// Tests table python_loops: repeated operator sequences count as loops from sixteen repetitions, with exceptions for
// layers, views and optimisers.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

struct LoopCall {
  std::string_view name, shapes = "[[8]]";
};

// The calls in order, `repeats` times, 100 ns each.
int64_t RepeatCalls(HandMade& trace, const std::vector<LoopCall>& calls, int repeats, int64_t at = 0) {
  for (int i = 0; i < repeats; ++i)
    for (const LoopCall& call : calls) {
      trace.OperatorOn(call.name, at, at + 90, {.shapes = call.shapes}, testing::kMain, "loss.py:4");
      at += 100;
    }
  return at;
}

size_t LoopsIn(HandMade& trace) {
  testing::Analysed run(trace);
  return run["python_loops"].rows();
}

TEST(PythonLoops, ASequenceRepeatedSixteenTimesIsOne) {
  HandMade trace;
  int64_t at = RepeatCalls(trace, {{"aten::exp"}}, 1);
  at = RepeatCalls(trace, {{"aten::select"}, {"aten::mul"}, {"aten::add_"}}, 16, at);
  RepeatCalls(trace, {{"aten::exp"}}, 1, at);
  testing::Analysed run(trace);
  const auto loops = run["python_loops"];
  ASSERT_EQ(loops.rows(), 1u);
  EXPECT_EQ(loops.Text(0, "pattern"), "aten::select > aten::mul > aten::add_");
  EXPECT_EQ(loops.Text(0, "source_line"), "loss.py:4");
  EXPECT_EQ(loops.Int(0, "loops"), 1);
  EXPECT_EQ(loops.Int(0, "repeats"), 16);
  EXPECT_EQ(loops.Int(0, "calls"), 48);
  EXPECT_EQ(loops.Int(0, "host_ns"), 48 * 100 - 10);
  EXPECT_TRUE(loops.IsNull(0, "idle_ns")) << "no device";
}

TEST(PythonLoops, FifteenTimesIsNone) {
  HandMade trace;
  RepeatCalls(trace, {{"aten::select"}, {"aten::mul"}}, 15);
  EXPECT_EQ(LoopsIn(trace), 0u);
}

TEST(PythonLoops, OtherShapesAreAnotherSequence) {
  HandMade trace;
  int64_t at = RepeatCalls(trace, {{"aten::mul", "[[8]]"}}, 10);
  RepeatCalls(trace, {{"aten::mul", "[[9]]"}}, 10, at);
  EXPECT_EQ(LoopsIn(trace), 0u);
}

TEST(PythonLoops, LayersAreNoneUnlessTheyTakeSlices) {
  HandMade layers, cells;
  RepeatCalls(layers, {{"aten::linear"}, {"aten::relu"}}, 24);
  RepeatCalls(cells, {{"aten::select"}, {"aten::linear"}, {"aten::tanh"}}, 24);
  EXPECT_EQ(LoopsIn(layers), 0u);
  EXPECT_EQ(LoopsIn(cells), 1u);
}

TEST(PythonLoops, ViewsAloneAndOptimisersAreNone) {
  HandMade views, optimiser;
  RepeatCalls(views, {{"aten::select"}, {"aten::view"}}, 24);
  optimiser.Annotation("Optimizer.zero_grad#SGD.zero_grad", 0, 10'000);
  RepeatCalls(optimiser, {{"aten::zero_"}}, 24);
  EXPECT_EQ(LoopsIn(views), 0u);
  EXPECT_EQ(LoopsIn(optimiser), 0u);
}

TEST(PythonLoops, TheirDeviceWorkAndIdleTime) {
  HandMade trace;
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t at = i * 1000;
    trace.Operator("aten::mul", at, at + 900).Kernel("k", {at + 100, at + 200, at + 300, at + 400});
  }
  trace.Kernel("last", {16'000, 16'010, 16'020, 17'000});
  testing::Analysed run(trace);
  const auto loops = run["python_loops"];
  ASSERT_EQ(loops.rows(), 1u);
  EXPECT_EQ(loops.Int(0, "gpu_ops"), 16);
  EXPECT_EQ(loops.Int(0, "device_ns"), 1600);
  EXPECT_EQ(loops.Int(0, "idle_ns"), 200 + 15 * 900 + 500) << "the window begins with the first launch";
}

}  // namespace
}  // namespace gapless::internal
