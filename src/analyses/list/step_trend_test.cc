// SPDX-License-Identifier: Apache-2.0
// Tests table step_trend: which steps count, and what is said of them.
#include <gtest/gtest.h>

#include <functional>

#include "analyses/testing/hand_made.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Adds steps that follow each other, and returns the end of the last one.
int64_t AddSteps(HandMade& trace, int64_t count, const std::function<int64_t(int64_t)>& dur_ns) {
  int64_t at = 0;
  for (int64_t step = 0; step < count; ++step) {
    trace.AgentStep(step, at, at + dur_ns(step), step);
    at += dur_ns(step);
  }
  return at;
}

TEST(StepTrend, IsThatOfAllStepsButTheFirst) {
  HandMade trace;
  AddSteps(trace, 81, [](int64_t step) { return step == 0 ? 1'000'000 : 1000 + 10 * step; });
  trace.Annotation(kGarbageName, 0, 10);
  Analysed run(trace);
  const auto table = run["step_trend"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "steps"), 80);
  EXPECT_EQ(table.Int(0, "first_ns"), 1105);
  EXPECT_EQ(table.Int(0, "second_ns"), 1305);
  EXPECT_EQ(table.Int(0, "third_ns"), 1505);
  EXPECT_EQ(table.Int(0, "last_ns"), 1705);
  EXPECT_NEAR(table.Real(0, "slope_ns"), 10, 1e-9);
  EXPECT_EQ(table.Real(0, "rank_correlation"), 1);
  EXPECT_EQ(table.Int(0, "wait_growth_ns"), 60);
  EXPECT_EQ(table.Int(0, "total_ns"), 80 * 1405);
  EXPECT_EQ(table.Int(0, "excess_ns"), 24'500) << "no step that is shorter takes anything away";
}

TEST(StepTrend, LeavesOutStepsWithRareEvents) {
  HandMade trace;
  AddSteps(trace, 20, [](int64_t) { return 1000; });
  trace.Annotation(kEvaluationName, 2100, 2900).Annotation(kSaveName, 3100, 3900);
  trace.Annotation("forward (m.py:3) (dynamo_timed)", 4100, 4900).Annotation(kGarbageName, 5100, 5900);
  trace.Annotation(kProfilerRecordsName, 8000, 10000);
  EXPECT_EQ(Analysed(trace)["step_trend"].Int(0, "steps"), 19 - 3 - 3);
}

TEST(StepTrend, KnowsNothingOfAFewStepsNorWithoutTheAgent) {
  HandMade few, recorded;
  AddSteps(few, 8, [](int64_t) { return 1000; });
  few.Annotation(kGarbageName, 0, 10);
  EXPECT_EQ(Analysed(few)["step_trend"].rows(), 0U);
  for (int64_t step = 0; step < 50; ++step) recorded.Step(step, step * 1000, step * 1000 + 1000);
  EXPECT_EQ(Analysed(recorded)["step_trend"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
