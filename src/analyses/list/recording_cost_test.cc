// SPDX-License-Identifier: Apache-2.0
// Tests table recording_cost: the cost of recording from unrecorded steps, or from counted events.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(RecordingCost, IsTheDifferenceToStepsThatWereNotRecorded) {
  HandMade agent;
  int64_t at = 0;
  const auto step = [&](int64_t number, int64_t dur) { agent.AgentStep(number, at, at + dur), at += dur; };
  step(0, 9000);  // warms up
  for (int64_t number = 1; number < 6; ++number) step(number, 100);
  const int64_t begin = at;
  for (int64_t number = 6; number < 10; ++number) step(number, 130);
  agent.Annotation(kProfilerRecordsName, begin, at);
  step(10, 800);  // in which the recording is stopped and written
  for (int64_t number = 11; number < 16; ++number) step(number, 100);
  Analysed run(agent);
  const auto table = run["recording_cost"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Text(0, "method"), "compared");
  EXPECT_EQ(table.Int(0, "recorded_steps"), 4);
  EXPECT_EQ(table.Int(0, "added_ns"), 30);
  EXPECT_DOUBLE_EQ(table.Real(0, "added_share"), 30.0 / 130);
}

TEST(RecordingCost, IsNotTheDifferenceBetweenWarmUpAndLaterSteps) {
  HandMade agent;
  int64_t at = 0;
  const auto step = [&](int64_t number, int64_t dur) { agent.AgentStep(number, at, at + dur), at += dur; };
  step(0, 9000), step(1, 900);
  const int64_t begin = at;
  for (int64_t number = 2; number < 6; ++number) step(number, 500);
  agent.Annotation(kProfilerRecordsName, begin, at);
  for (int64_t number = 6; number < 16; ++number) step(number, 100);
  EXPECT_EQ(Analysed(agent)["recording_cost"].rows(), 0U);
}

TEST(RecordingCost, IsCountedWhereNobodySawOtherSteps) {
  HandMade trace;
  trace.Step(0, 0, 1'000'000).Step(1, 1'000'000, 2'000'000);
  for (int64_t call = 0; call < 200; ++call) trace.Python("f", call * 10'000, call * 10'000 + 500, "");
  Analysed run(trace);
  const auto table = run["recording_cost"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Text(0, "method"), "counted");
  EXPECT_EQ(table.Int(0, "calls_per_step"), 100);
  EXPECT_EQ(table.Int(0, "added_ns"), 15'000);
}

TEST(RecordingCost, IsUnknownWithoutStacks) {
  HandMade trace;
  trace.Step(0, 0, 1000).Operator("aten::mm", 0, 500);
  EXPECT_EQ(Analysed(trace)["recording_cost"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
