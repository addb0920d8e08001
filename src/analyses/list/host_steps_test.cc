// SPDX-License-Identifier: Apache-2.0
// Tests table host_steps: the parts of host time in complete steps, the lines with the most time, and the estimate for
// calls.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

int64_t PartsOf(const testing::TableByName& table) {
  int64_t sum = 0;
  for (const std::string_view part :
       {"data_ns", "save_ns", "gc_ns", "compile_ns", "optimizer_ns", "collective_ns", "operator_ns", "python_ns"})
    sum += table.Int(0, part);
  return sum;
}

TEST(HostSteps, EachMomentBelongsToOnePart) {
  HandMade trace;
  trace.Step(0, 0, 1000);
  trace.Loader(0, 300);
  trace.Operator("aten::stack", 100, 200);  // inside the loader: loading
  trace.Operator("aten::mm", 300, 500);
  trace.Operator("aten::copy_", 350, 400);  // inside another operator
  trace.Annotation("Optimizer.step#AdamW.step", 600, 800);
  trace.Operator("aten::mul_", 650, 750);
  trace.Annotation("Python GC", 750, 780);  // strikes within the optimiser
  Analysed run(trace);
  const auto table = run["host_steps"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "wall_ns"), 1000);
  EXPECT_EQ(table.Int(0, "data_ns"), 300);
  EXPECT_EQ(table.Int(0, "gc_ns"), 30);
  EXPECT_EQ(table.Int(0, "optimizer_ns"), 170);
  EXPECT_EQ(table.Int(0, "operator_ns"), 200);
  EXPECT_EQ(table.Int(0, "python_ns"), 300);
  EXPECT_EQ(PartsOf(table), 1000);
  EXPECT_EQ(table.Int(0, "operators"), 3);
  EXPECT_EQ(table.Int(0, "optimizer_operators"), 1);
  EXPECT_EQ(table.Text(0, "optimizer"), "AdamW");
}

TEST(HostSteps, AMessageThatIsUnderWayIsWaitedForUnlessAnOperatorRuns) {
  HandMade trace;
  trace.Step(0, 0, 1000).Operator("aten::mm", 0, 200).Operator("aten::mm", 600, 700);
  for (const std::string_view kind : {"recv", "all_reduce"}) {  // both on the thread of the steps
    const int64_t start = kind == "recv" ? 300 : 800, end = kind == "recv" ? 650 : 900;
    trace.Annotation(kind == "recv" ? "gloo:recv" : "gloo:all_reduce", start, end);
    trace.shard().Add(CollectiveRow{.name = trace.shard().Text(kind == "recv" ? "gloo:recv" : "gloo:all_reduce"),
                                    .kind = trace.shard().Text(kind),
                                    .pid = 1,
                                    .tid = testing::kMain,
                                    .ts_ns = start,
                                    .dur_ns = end - start});
  }
  Analysed run(trace);
  const auto table = run["host_steps"];
  EXPECT_EQ(table.Int(0, "collective_ns"), 300) << "an all-reduce that this thread carries itself is work";
  EXPECT_EQ(table.Int(0, "operator_ns"), 300);
  EXPECT_EQ(PartsOf(table), 1000);
}

TEST(HostSteps, LinesAreThoseWithMostTime) {
  HandMade trace;
  trace.Step(0, 0, 1000);
  trace.Loader(0, 100, "_SingleProcessDataLoaderIter", "train.py:10").Loader(200, 500, "_Other", "train.py:20");
  trace.OperatorOn("aten::mm", 500, 600, {}, testing::kMain, "train.py:30");
  trace.OperatorOn("aten::add", 600, 640, {}, testing::kMain, "train.py:31");
  trace.OperatorOn("aten::add", 640, 700, {}, testing::kMain, "train.py:31");
  trace.OperatorOn("aten::add", 700, 720, {}, testing::kMain, "train.py:31");
  Analysed run(trace);
  const auto table = run["host_steps"];
  EXPECT_EQ(table.Text(0, "data_line"), "train.py:20");
  EXPECT_EQ(table.Text(0, "operator_line"), "train.py:31");
}

TEST(HostSteps, OnlyCompleteStepsCount) {
  HandMade trace;
  trace.Step(0, 0, 100).Step(1, 100, 200).Step(2, 200, 250, false);
  trace.Operator("aten::mm", 0, 60).Operator("aten::mm", 100, 160).Operator("aten::mm", 200, 250);
  Analysed run(trace);
  const auto table = run["host_steps"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "steps"), 2);
  EXPECT_EQ(table.Int(0, "wall_ns"), 200);
  EXPECT_EQ(table.Int(0, "operator_ns"), 120);
  EXPECT_EQ(table.Int(0, "operators"), 2);
}

TEST(HostSteps, WithoutMarksAllThatWasRecordedIsDivided) {
  HandMade trace;
  trace.Loader(0, 700).Operator("aten::mm", 700, 900).Operator("aten::mm", 950, 1000);
  Analysed run(trace);
  const auto table = run["host_steps"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "steps"), 0);
  EXPECT_EQ(table.Int(0, "wall_ns"), 1000);
  EXPECT_EQ(table.Int(0, "data_ns"), 700);
  EXPECT_EQ(table.Int(0, "operator_ns"), 250);
  EXPECT_EQ(table.Int(0, "operators"), 2);
}

TEST(HostSteps, ACallTakesWhatAnOperatorTakesThatOnlyMakesAView) {
  HandMade few, enough, coarse;
  few.Step(0, 0, 2000), enough.Step(0, 0, 2000), coarse.Step(0, 0, 2000);
  for (int64_t view = 0; view < 17; ++view) {
    enough.Operator("aten::linear", 100 * view, 100 * view + 90);
    enough.Operator("aten::transpose", 100 * view, 100 * view + 20 + 2 * view);  // 20 … 52, median 36, of two operators
    enough.Operator("aten::as_strided", 100 * view + 5, 100 * view + 10);
    coarse.Operator("aten::select", 100 * view, 100 * view);  // a clock of whole microseconds saw no time pass
    if (view < 15) few.Operator("aten::select", 100 * view, 100 * view + 10);
  }
  enough.Annotation("Optimizer.step#SGD.step", 1800, 1900);
  enough.Operator("aten::add_", 1810, 1890);
  Analysed of_few(few), of_enough(enough), of_coarse(coarse);
  EXPECT_EQ(of_enough["host_steps"].Int(0, "call_ns"), 18);
  EXPECT_EQ(of_enough["host_steps"].Int(0, "calls"), 3 * 17);
  EXPECT_TRUE(of_few["host_steps"].IsNull(0, "call_ns"));
  EXPECT_TRUE(of_coarse["host_steps"].IsNull(0, "call_ns"));
}

TEST(HostSteps, ProcessesThatUsedADeviceAreInTheLedgerInstead) {
  HandMade trace;
  trace.Step(0, 0, 100);
  trace.Kernel("gemm", {10, 20, 20, 90});
  Analysed run(trace);
  EXPECT_EQ(run["host_steps"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
