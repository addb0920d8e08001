// SPDX-License-Identifier: Apache-2.0
// Tests the merged request of two nested gapless commands.
#include "cli/asked_together.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

using Items = std::vector<std::string>;

TEST(AskTogether, KeepsWhatTheOneAroundMeasures) {
  const auto together =
      AskTogether(R"({"mode":"step","record":{"on":false,"wait":5},"every_loss":true})", {"tf32"}, {});
  EXPECT_EQ(together.agent_options,
            R"({"mode":"step","record":{"on": false, "wait": 5},"every_loss":true,"fixes":["tf32"]})");
  EXPECT_EQ(together.fixes, Items{"tf32"});
}

TEST(AskTogether, TriesItsFixesOnTopOfThoseOfTheRecipe) {
  const auto together =
      AskTogether(R"({"fixes":["workers=4"],"own_fixes":["/b.py"]})", {"workers=2", "tf32"}, {"/a.py", "/b.py"});
  EXPECT_EQ(together.agent_options, R"({"fixes":["tf32", "workers=4"],"own_fixes":["/a.py", "/b.py"]})");
  EXPECT_EQ(together.replaced, Items{"workers=2"});
}

TEST(AskTogether, TakesNoJsonForNothing) {
  EXPECT_EQ(AskTogether("", {"tf32"}, {}).agent_options, R"({"fixes":["tf32"]})");
  EXPECT_EQ(AskTogether("[1", {}, {}).agent_options, "{}");
}

TEST(AskForTheOneAround, AddsWhatItMeasuresAndTries) {
  AgentOptions options;
  options.fixes = {"tf32"};
  AskForTheOneAround(
      R"({"mode":"light","every_loss":true,"fixes":["workers=4"],"parity":{"role":"probe","folder":"/f","noise":0.5}})",
      options);
  EXPECT_EQ(options.mode, AgentMode::kStep) << "what is recorded is the inner one's";
  EXPECT_TRUE(options.every_loss);
  EXPECT_EQ(options.parity->role, "probe");
  EXPECT_EQ(options.parity->folder, "/f");
  EXPECT_EQ(options.parity->noise, 0.5);
  EXPECT_EQ(options.parity->steps, 20);
  EXPECT_EQ(options.fixes, (Items{"tf32", "workers=4"}));
  AskForTheOneAround("no JSON", options);
  EXPECT_EQ(options.parity->role, "probe");
}

TEST(AskedTogether, TheStepFunctionOfTheOneAroundIsKept) {
  EXPECT_EQ(AskTogether(R"({"step_function":"a.py:f"})", {}, {}, "b.py:g").agent_options,
            R"({"step_function":"a.py:f"})");
  EXPECT_EQ(AskTogether(R"({"mode":"step"})", {}, {}, "b.py:g").agent_options,
            R"({"mode":"step","step_function":"b.py:g"})");
  AgentOptions options;
  AskForTheOneAround(R"({"step_function":"a.py:f"})", options);
  EXPECT_EQ(options.step_function, "a.py:f");
}

}  // namespace
}  // namespace gapless::internal
