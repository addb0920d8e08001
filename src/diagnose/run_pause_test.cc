// SPDX-License-Identifier: Apache-2.0
// tests/rules/run_*.py test when the rules fire; here is which other finding claims the same time.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

std::string PartOf(std::string_view id, bool on_device) {
  testing::HandMade trace;
  for (int64_t step = 0; step < 30; ++step) {
    const int64_t begin = step * 1000;
    trace.AgentStep(step, begin, begin + 1000);
    trace.Annotation(kGarbageName, begin + 100, begin + 300).Annotation(kSaveName, begin + 400, begin + 600);
    trace.Annotation(kEvaluationName, begin + 700, begin + 900);
  }
  if (on_device) trace.Counter("allocated memory", 0, 1, 0);
  testing::Analysed run(trace);
  const auto rule = std::ranges::find(AllRules(), id, [](const Rule* rule) { return rule->id; });
  const auto found = CheckRule(**rule, run.tables());
  return found && found->size() == 1 ? found->front().part_of : "not found";
}

TEST(RunPause, CollectingStrikesInTheMidstOfPython) {
  EXPECT_EQ(PartOf("run_garbage", false), "host_python");
  EXPECT_EQ(PartOf("run_checkpoints", false), "") << "saving is separate from Python";
}

TEST(RunPause, ADeviceIdlesMeanwhile) {
  EXPECT_EQ(PartOf("run_garbage", true), "host_bound");
  EXPECT_EQ(PartOf("run_checkpoints", true), "host_bound");
}

TEST(RunPause, ADeviceWorksDuringAnEvaluation) {
  EXPECT_EQ(PartOf("run_evaluation", true), "");
  EXPECT_EQ(PartOf("run_evaluation", false), "");
}

}  // namespace
}  // namespace gapless::internal
