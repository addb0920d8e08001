// SPDX-License-Identifier: Apache-2.0
// Tests table whole_run: sums of the agent's events over all steps except the first and the recorded ones.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "base/strings.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Returns the row of a kind and detail, or the number of rows if there is no such row.
size_t RowOf(const testing::TableByName& table, std::string_view kind, std::string_view detail = {}) {
  for (size_t row = 0; row < table.rows(); ++row)
    if (table.Text(row, "kind") == kind && table.Text(row, "detail") == detail) return row;
  return table.rows();
}

TEST(WholeRun, SumsUpWhatHappensInAllStepsButTheFirst) {
  HandMade trace;
  for (int64_t step = 0; step < 4; ++step) trace.AgentStep(step, step * 1000, step * 1000 + 1000, 50);
  trace.Annotation(kGarbageName, 500, 900);  // in the first step, which warms up
  trace.Annotation(kGarbageName, 1500, 1600);
  trace.Annotation(kGarbageName, 2500, 2800);
  trace.Annotation(kSaveName, 3900, 4300);  // goes on after the last step
  trace.Annotation(kEvaluationName, 3000, 3600);
  Analysed run(trace);
  const auto table = run["whole_run"];
  const size_t steps = RowOf(table, "step"), garbage = RowOf(table, "garbage"), save = RowOf(table, "checkpoint"),
               evaluation = RowOf(table, "evaluation");
  ASSERT_LT(std::max({steps, garbage, save, evaluation}), table.rows());
  EXPECT_EQ(table.Int(steps, "calls"), 3);
  EXPECT_EQ(table.Int(steps, "total_ns"), 3000);
  EXPECT_EQ(table.Int(garbage, "calls"), 2);
  EXPECT_EQ(table.Int(garbage, "total_ns"), 400);
  EXPECT_EQ(table.Int(garbage, "max_ns"), 300);
  EXPECT_EQ(table.Int(save, "total_ns"), 100);
  EXPECT_EQ(table.Int(evaluation, "total_ns"), 600);
  EXPECT_EQ(table.Int(RowOf(table, "data"), "total_ns"), 150) << "short waits are in the steps only";
}

// To start and stop takes the profiler time, which would count as the program's.
TEST(WholeRun, LeavesOutRecordedStepsAndTheOneBehindThem) {
  HandMade trace;
  for (int64_t step = 0; step < 6; ++step) trace.AgentStep(step, step * 1000, step * 1000 + 1000);
  trace.Annotation(kProfilerRecordsName, 2000, 4000);
  trace.Annotation(kGarbageName, 2500, 2600);
  trace.Annotation(kGarbageName, 4500, 4600);
  trace.Annotation(kGarbageName, 5500, 5600);
  Analysed run(trace);
  const auto table = run["whole_run"];
  EXPECT_EQ(table.Int(RowOf(table, "step"), "calls"), 2);
  EXPECT_EQ(table.Int(RowOf(table, "garbage"), "calls"), 1);
}

// Two calls of one record; the same function within an evaluation; a checkpoint there; and what a thread does.
TEST(WholeRun, CountsWorkBesideTheTrainingOnceAndWhereItBlocks) {
  HandMade trace;
  for (int64_t step = 0; step < 4; ++step) trace.AgentStep(step, step * 1000, step * 1000 + 1000);
  const std::string score = StrCat(kBesideName, "metrics: f1_score");
  trace.Counter(StrCat(score, kCallsSuffix), 1100, 2).Counter(StrCat(score, kLongestSuffix), 1100, 70);
  trace.Annotation(score, 1100, 1200).Annotation(kEvaluationName, 2000, 2600).Annotation(score, 2100, 2150);
  trace.Annotation(kSaveName, 2200, 2300).Annotation(kSaveName, 3200, 3300);
  trace.Annotation(StrCat(kInThreadName, "images: Image.save"), 3000, 3900);
  trace.Annotation(StrCat(kBesideName, "a later kind: x"), 3000, 3900);
  Analysed run(trace);
  const auto table = run["whole_run"];
  const size_t metrics = RowOf(table, "metrics"), within = RowOf(table, "evaluation", "metrics: f1_score");
  ASSERT_LT(std::max(metrics, RowOf(table, "metrics", "f1_score")), table.rows());
  EXPECT_EQ(table.Int(metrics, "calls"), 2);
  EXPECT_EQ(table.Int(metrics, "total_ns"), 100) << "not those of the evaluation";
  EXPECT_EQ(table.Int(metrics, "max_ns"), 70);
  ASSERT_LT(within, table.rows());
  EXPECT_EQ(table.Int(within, "total_ns"), 50);
  EXPECT_EQ(table.Int(RowOf(table, "evaluation"), "total_ns"), 600);
  EXPECT_EQ(table.Int(RowOf(table, "checkpoint"), "calls"), 1);
  EXPECT_EQ(table.Int(RowOf(table, "background", "images: Image.save"), "total_ns"), 900);
  EXPECT_EQ(RowOf(table, "images"), table.rows());
  EXPECT_EQ(RowOf(table, "a later kind"), table.rows());
}

TEST(WholeRun, TellsCompilationsApartAndWhy) {
  HandMade trace;
  for (int64_t step = 0; step < 4; ++step) trace.AgentStep(step, step * 1000, step * 1000 + 1000);
  trace.Annotation("forward (m.py:3) (dynamo_timed)", 1000, 1400);
  trace.Annotation("compiled again: forward (m.py:3): size (dynamo_timed)", 2000, 2100);
  trace.Annotation("compiled again: forward (m.py:3): size (dynamo_timed)", 3000, 3300);
  trace.Annotation("graph break: print", 3000, 3000);
  Analysed run(trace);
  const auto table = run["whole_run"];
  EXPECT_EQ(table.Int(RowOf(table, "compile"), "total_ns"), 400);
  EXPECT_EQ(table.Int(RowOf(table, "recompile"), "calls"), 2);
  EXPECT_EQ(table.Int(RowOf(table, "recompile", "forward (m.py:3): size"), "total_ns"), 400);
  EXPECT_EQ(table.Int(RowOf(table, "graph_break", "print"), "calls"), 1);
}

TEST(WholeRun, CountsSkippedStepsWithTheirTime) {
  HandMade trace;
  for (int64_t step = 0; step < 4; ++step) trace.AgentStep(step, step * 1000, step * 1000 + 1000);
  trace.Counter(kSkippedStepName, 0, 1).Counter(kSkippedStepName, 2000, 1);
  trace.Counter(kLossScaleName, 500, 1024).Counter(kLossScaleName, 2500, 64).Counter(kLossScaleName, 3500, 128);
  Analysed run(trace);
  const auto table = run["whole_run"];
  const size_t skipped = RowOf(table, "skipped_step");
  ASSERT_LT(skipped, table.rows());
  EXPECT_EQ(table.Int(skipped, "calls"), 1) << "the first step does not count";
  EXPECT_EQ(table.Int(skipped, "total_ns"), 1000);
  EXPECT_LT(RowOf(table, "skipped_step", "loss scale 1024 at first, 64 at least, 128 at last"), table.rows());
}

TEST(WholeRun, KnowsNothingOfARecordingWithoutTheAgent) {
  HandMade trace;
  trace.Step(0, 0, 1000).Step(1, 1000, 2000).Annotation(kGarbageName, 1100, 1200);
  EXPECT_EQ(Analysed(trace)["whole_run"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
