// SPDX-License-Identifier: Apache-2.0
// Tests table python_time: self time by the user's innermost function, cut at steps.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

int64_t SelfOf(const testing::TableByName& table, std::string_view function, std::string_view callee = {}) {
  for (size_t row = 0; row < table.rows(); ++row)
    if (table.Text(row, "function") == function && table.Text(row, "callee") == callee)
      return table.Int(row, "self_ns");
  return 0;
}

TEST(PythonTime, BelongsToTheInnermostFunctionOfTheUsersCode) {
  HandMade trace;
  trace.Python("train.py(40): main", 0, 1000, "main() (train.py)");
  trace.Step(0, 0, 1000);
  trace.Python("data.py(3): parse", 100, 600, "parse() (data.py)");
  trace.Python("json/decoder.py(9): decode", 200, 500, "data.py:7");
  trace.Operator("aten::mm", 700, 900);
  Analysed run(trace);
  const auto table = run["python_time"];
  EXPECT_EQ(SelfOf(table, "main() (train.py)"), 300) << "without parse and the operator";
  EXPECT_EQ(SelfOf(table, "parse() (data.py)"), 200);
  EXPECT_EQ(SelfOf(table, "parse() (data.py)", "decode (json/decoder.py)"), 300);
  for (size_t row = 0; row < table.rows(); ++row)
    EXPECT_EQ(table.Text(row, "source_line"), table.IsNull(row, "callee") ? "" : "data.py:7");
}

// A frame of the agent around a function of PyTorch is none that the program calls.
TEST(PythonTime, FramesOfTheAgentAreTransparent) {
  HandMade trace;
  trace.Python("train.py(40): main", 0, 1000, "main() (train.py)");
  trace.Step(0, 0, 1000);
  trace.Python("torch/_tensor.py(9): backward", 100, 600, "train.py:44");
  trace.Python("gapless_agent/by_hand.py(3): backward", 150, 550, "train.py:44");
  Analysed run(trace);
  const auto table = run["python_time"];
  EXPECT_EQ(SelfOf(table, "main() (train.py)", "backward (torch/_tensor.py)"), 500);
}

// A call of a function, with its place, is told apart from the same call of another function.
TEST(PythonTime, TheSameCallBelongsToWhoeverMakesIt) {
  HandMade trace;
  trace.Python("train.py(40): main", 0, 1000, "main() (train.py)");
  trace.Step(0, 0, 1000);
  for (int64_t at = 0; at < 900; at += 300) {
    trace.Python("data.py(3): parse", at, at + 100, "parse() (data.py)");
    trace.Python("<built-in function sleep>", at + 10, at + 50, "util.py:5");
    trace.Python("net.py(8): send", at + 100, at + 250, "send() (net.py)");
    trace.Python("<built-in function sleep>", at + 110, at + 210, "util.py:5");
  }
  Analysed run(trace);
  const auto table = run["python_time"];
  EXPECT_EQ(SelfOf(table, "parse() (data.py)", "sleep"), 3 * 40);
  EXPECT_EQ(SelfOf(table, "send() (net.py)", "sleep"), 3 * 100);
  EXPECT_EQ(SelfOf(table, "main() (train.py)"), 1000 - 3 * 250);
}

TEST(PythonTime, LoadingAndTheOptimiserHaveRowsElsewhere) {
  HandMade trace;
  trace.Python("train.py(40): main", 0, 1000, "main() (train.py)");
  trace.Step(0, 0, 1000);
  trace.Loader(0, 300);
  trace.Python("data.py(3): __getitem__", 50, 250, "__getitem__() (data.py)");
  trace.Annotation("Optimizer.step#SGD.step", 800, 1000);
  Analysed run(trace);
  EXPECT_EQ(SelfOf(run["python_time"], "main() (train.py)"), 500);
  EXPECT_EQ(run["python_time"].rows(), 1U);
}

// The frame of the program's main function is open all the time.
TEST(PythonTime, FramesAreCutAtTheSteps) {
  HandMade trace;
  trace.Python("train.py(40): main", 0, 5000, "main() (train.py)");
  trace.Step(0, 1000, 2000).Step(1, 2000, 3000).Step(2, 3000, 4000, false);
  trace.Python("<built-in function sleep>", 2500, 3500, "train.py:44");
  Analysed run(trace);
  EXPECT_EQ(SelfOf(run["python_time"], "main() (train.py)", "sleep"), 500);
  EXPECT_EQ(SelfOf(run["python_time"], "main() (train.py)"), 1500);
}

}  // namespace
}  // namespace gapless::internal
