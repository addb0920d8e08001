// SPDX-License-Identifier: Apache-2.0
// A GPU that works while the program leaves it idle is somebody else's too, unless the samples are of another GPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

// The program works from second 0 to 5 and from 15 to 20.
std::vector<std::string> FindingsOf(double while_working, double in_gap) {
  constexpr int64_t kSecond = 1'000'000'000;
  HandMade program, samples;
  program.Unlaunched("first", 0, 5 * kSecond).Unlaunched("last", 15 * kSecond, 20 * kSecond);
  samples.Format("telemetry");
  for (int64_t second = 0; second <= 20; ++second)
    samples.Counter("gpu.utilization", second * kSecond, second > 5 && second <= 15 ? in_gap : while_working, 0);
  testing::Analysed run({program.Finish(), samples.Finish()});
  const auto rule = std::ranges::find(AllRules(), "gpu_foreign_process", [](const Rule* each) { return each->id; });
  std::vector<std::string> titles;
  for (const Bottleneck& found : *CheckRule(**rule, run.tables())) titles.push_back(found.title);
  return titles;
}

TEST(GpuForeignProcess, WorkInGapsIsSomebodyElses) {
  EXPECT_EQ(FindingsOf(0.98, 0.6),
            std::vector<std::string>{"GPU 0 works 60.0 % of the time in which this program leaves it idle"});
  EXPECT_EQ(FindingsOf(0.98, 0.02), std::vector<std::string>{});
}

// A program under CUDA_VISIBLE_DEVICES=3 calls its GPU 0.
TEST(GpuForeignProcess, AGpuThatDoesNotWorkWithTheProgramIsAnother) {
  EXPECT_EQ(FindingsOf(0.3, 0.9), std::vector<std::string>{});
}

}  // namespace
}  // namespace gapless::internal
