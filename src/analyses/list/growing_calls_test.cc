// SPDX-License-Identifier: Apache-2.0
// Tests table growing_calls: what is called more often from step to step.
#include <gtest/gtest.h>

#include <vector>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Adds steps of 10 µs from `first` on, each with so many calls of a function of the user's and of an operator in it.
void AddSteps(HandMade& trace, int64_t first, const std::vector<int64_t>& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const int64_t begin = (first + static_cast<int64_t>(i)) * 10'000;
    trace.Step(first + static_cast<int64_t>(i), begin, begin + 10'000);
    trace.Operator("aten::mm", begin + 9000, begin + 9900);
    for (int64_t call = 0; call < calls[i]; ++call) {
      const int64_t at = begin + 100 + 100 * call;
      trace.Python("train.py(7): keep_mean", at, at + 90, "train.py:20");
      trace.Python("torch/_tensor.py(7): mean", at + 1, at + 89, "train.py:8");
      trace.OperatorOn("aten::mean", at + 10, at + 80, {}, testing::kMain, "train.py:8");
    }
  }
}

// The recordings, and what the agent saw of the process.
Analysed WithAgent(std::vector<std::shared_ptr<const Trace>> recordings) {
  HandMade agent;
  agent.Process(1, 1'700'000'000'000'000'000).AgentStep(0, 0, 10'000);
  agent.Annotation("Python GC", 0, 5'000'000'000);
  recordings.push_back(agent.Finish());
  return Analysed(std::move(recordings));
}

TEST(GrowingCalls, NamesFunctionsOfTheUserBeforeOperators) {
  HandMade trace;
  trace.Process(1, 1'700'000'000'000'000'000);
  AddSteps(trace, 0, {2, 4, 6, 8, 10, 12});
  Analysed run = WithAgent({trace.Finish()});
  const auto table = run["growing_calls"];
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.Text(0, "kind"), "function");
  EXPECT_EQ(table.Text(0, "name"), "train.py(7): keep_mean");
  EXPECT_EQ(table.Text(0, "source_line"), "train.py:20");
  EXPECT_EQ(table.Int(0, "first_calls"), 2);
  EXPECT_EQ(table.Int(0, "last_calls"), 12);
  EXPECT_EQ(table.Int(0, "last_step"), 5);
  EXPECT_EQ(table.Text(1, "kind"), "operator");
  EXPECT_EQ(table.Text(1, "name"), "aten::mean");
}

TEST(GrowingCalls, NoneOfThoseThatComeAndGo) {
  for (const std::vector<int64_t>& calls :
       {std::vector<int64_t>{3, 3, 3, 3, 3}, {1, 2, 3, 2, 4, 5}, {3, 3, 3, 3, 3, 4}, {5, 4, 3, 2, 1}, {1, 2, 3}}) {
    HandMade trace;
    AddSteps(trace, 0, calls);
    EXPECT_EQ(WithAgent({trace.Finish()})["growing_calls"].rows(), 0U) << calls.size();
  }
}

TEST(GrowingCalls, AreNotLookedForWithoutTheAgent) {
  HandMade trace;
  AddSteps(trace, 0, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(Analysed(trace)["growing_calls"].rows(), 0U) << "nothing shows whether all steps of the run grow";
}

// A call that is added once an epoch grows between two recordings, and within none.
TEST(GrowingCalls, ComparesTheRecordingsOfAProcess) {
  const auto rows = [](const std::vector<int64_t>& first, const std::vector<int64_t>& second) {
    HandMade early, late;
    early.Process(1, 1'700'000'000'000'000'000), late.Process(1, 1'700'000'001'000'000'000);
    AddSteps(early, 0, first), AddSteps(late, 100, second);
    Analysed run = WithAgent({early.Finish(), late.Finish()});
    return run["growing_calls"].rows();
  };
  EXPECT_EQ(rows({3, 3, 3}, {9, 9, 9}), 2U);
  EXPECT_EQ(rows({3, 3, 3}, {3, 3, 3}), 0U);
  EXPECT_EQ(rows({9, 9, 9}, {3, 3, 3}), 0U);
}

}  // namespace
}  // namespace gapless::internal
