// SPDX-License-Identifier: Apache-2.0
// Tests table serving_phases: what the annotation says, the device's time in each iteration, and graphs.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

void Iteration(HandMade& trace, int64_t number, std::string_view name, int64_t start, int64_t end) {
  trace.shard().Add(StepRow{
      .number = number, .name = trace.shard().Text(name), .ts_ns = start, .dur_ns = end - start, .complete = true});
}

TEST(ServingPhases, ARowForEachIterationWithWhatItsAnnotationSays) {
  HandMade trace;
  Iteration(trace, 0, "execute_context_2(900)_generation_0(0)", 0, 1000);
  trace.Kernel("prefill", {10, 20, 30, 1000});
  Iteration(trace, 1, "execute_context_1(300)_generation_2(2)", 1000, 2000);
  trace.Kernel("mixed", {1010, 1020, 1030, 2000});
  Iteration(trace, 2, "step[DECODE bs=3]", 2000, 3000);
  trace.Kernel("decode", {2010, 2020, 2200, 2600}).Python("scheduler", 2610, 2990, "");
  trace.Kernel("decode", {2800, 2810, 2990, 3000});
  Analysed run(trace);
  const auto rows = run["serving_phases"];
  ASSERT_EQ(rows.rows(), 3U);
  EXPECT_EQ(rows.Text(0, "phase"), "prefill");
  EXPECT_EQ(rows.Int(0, "prefill_requests"), 2);
  EXPECT_EQ(rows.Int(0, "prefill_tokens"), 900);
  EXPECT_EQ(rows.Text(1, "phase"), "mixed");
  EXPECT_EQ(rows.Int(1, "decode_requests"), 2);
  EXPECT_EQ(rows.Text(2, "phase"), "decode");
  EXPECT_EQ(rows.Int(2, "dur_ns"), 1000);
  EXPECT_EQ(rows.Int(2, "busy_ns"), 410) << "2200 to 2600, and 10 at the end";
  EXPECT_EQ(rows.Int(2, "kernels"), 2);
  EXPECT_EQ(rows.Text(2, "launch"), "eager");
  EXPECT_EQ(rows.Text(2, "source"), "annotation");
}

TEST(ServingPhases, AReplayedGraphIsNamedAndItsBatchIsThatOfTheAnnotation) {
  HandMade trace;
  for (int64_t number = 0; number < 2; ++number) {
    const int64_t t = number * 1000;
    Iteration(trace, number, "execute_new_0_cached_5", t, t + 1000);
    trace.Graph("k", {t + 10, t + 20, t + 30, t + 990});
  }
  Analysed run(trace);
  const auto rows = run["serving_phases"];
  ASSERT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows.Int(0, "graph_kernels"), rows.Int(0, "kernels"));
  EXPECT_EQ(rows.Text(0, "launch"), "graph");
  EXPECT_EQ(rows.Int(0, "decode_requests"), 5);
  EXPECT_TRUE(rows.IsNull(0, "decode_tokens")) << "older annotations do not say";
}

TEST(ServingPhases, StepsOfATrainingAreNone) {
  HandMade trace;
  for (int64_t number = 0; number < 3; ++number)
    trace.Step(number, number * 1000, number * 1000 + 1000)
        .Kernel("k", {number * 1000 + 1, number * 1000 + 2, number * 1000 + 3, number * 1000 + 900});
  EXPECT_EQ(Analysed(trace)["serving_phases"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
