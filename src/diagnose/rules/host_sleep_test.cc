// SPDX-License-Identifier: Apache-2.0
// On the CPU the rule is tested in tests/rules/host_sleep.py; here a device waits for a host that sleeps.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"

namespace gapless::internal {
namespace {

TEST(HostSleep, ADeviceThatWaitsForASleepingHost) {
  testing::HandMade trace;
  trace.Python("train.py(40): main", 0, 4000 * kUs, "main() (train.py)");
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t begin = step * 1000 * kUs;
    trace.Step(step, begin, begin + 1000 * kUs);
    trace.Python("<built-in function sleep>", begin + 10 * kUs, begin + 410 * kUs, "train.py:44");
    trace.Kernel("gemm", {begin + 420 * kUs, begin + 424 * kUs, begin + 430 * kUs, begin + 1000 * kUs});
  }
  testing::Analysed run(trace);
  const auto rule = std::ranges::find(AllRules(), "host_sleep", [](const Rule* rule) { return rule->id; });
  const auto found = CheckRule(**rule, run.tables());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().part_of, "host_bound");
  EXPECT_EQ(found->front().evidence[0].source, "train.py:44");
  EXPECT_NE(found->front().title.find("for a host that sleeps"), std::string::npos) << found->front().title;
}

}  // namespace
}  // namespace gapless::internal
