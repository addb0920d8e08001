// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"

namespace gapless::internal {
namespace {

// Two kernels at once for most of a step: their times add up to more than the step.
Result<std::vector<Bottleneck>> FindsTwo(Tables&) {
  Bottleneck more_than_all, judged;
  more_than_all.share_of_step = 1.7;
  judged.share_of_step = 0.1;
  judged.severity = 0.8;
  return std::vector{more_than_all, judged};
}

TEST(CheckRule, FillsWhatFollowsFromTheRuleAndTheShare) {
  constexpr Rule kRule{.id = "made",
                       .type = BottleneckType::kIo,
                       .title = "made",
                       .why = "for this test",
                       .needs = {},
                       .check = FindsTwo};
  testing::HandMade trace;
  testing::Analysed run(trace);
  const auto found = CheckRule(kRule, run.tables());
  ASSERT_TRUE(found && found->size() == 2);
  EXPECT_EQ((*found)[0].id, "made");
  EXPECT_EQ((*found)[0].type, BottleneckType::kIo);
  EXPECT_EQ((*found)[0].share_of_step, 1.0) << "no more than all of the time";
  EXPECT_EQ((*found)[0].severity, SeverityOfShare(1.0));
  EXPECT_EQ((*found)[1].severity, 0.8) << "a rule may judge for itself";
}

}  // namespace
}  // namespace gapless::internal
