// SPDX-License-Identifier: Apache-2.0
// Each simulated kind of noise is recognised from a hundred runs, nearly always.
#include "validate/noise_look.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/testing/gate_walk.h"

namespace gapless::internal {
namespace {

std::vector<double> Logs(GateNoise noise, uint64_t seed, size_t count) {
  GateRuns runs(noise, seed);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(std::log(runs.Next()));
  return values;
}

TEST(NoiseLook, OfAHundredRunsIsThatOfTheirNoise) {
  for (const auto& [noise, look] :
       {std::pair(GateNoise::kQuiet, NoiseLook::kQuiet), std::pair(GateNoise::kDrift, NoiseLook::kDrift),
        std::pair(GateNoise::kSpikes, NoiseLook::kSpikes), std::pair(GateNoise::kTwoMachines, NoiseLook::kTwoMachines),
        std::pair(GateNoise::kHeavyTail, NoiseLook::kHeavyTail)}) {
    int right = 0;
    for (uint64_t i = 0; i < 50; ++i) right += LookOf(Logs(noise, kCheckingSeed + i, 100)) == look ? 1 : 0;
    EXPECT_GE(right, 40) << NameOf(noise);
  }
}

TEST(NoiseLook, TwoLevelsAreGivenWithTheirDistance) {
  const auto levels = FindTwoLevels(Logs(GateNoise::kTwoMachines, 5, 60));
  ASSERT_TRUE(levels);
  EXPECT_NEAR(levels->high - levels->low, std::log(1.25), 0.02);
  EXPECT_NEAR(levels->share_of_high, 0.5, 0.2);
  EXPECT_FALSE(FindTwoLevels(Logs(GateNoise::kQuiet, 5, 60)));
  EXPECT_FALSE(FindTwoLevels(std::vector<double>{1, 1, 2, 2})) << "too few";
}

TEST(NoiseLook, EqualValuesAreQuiet) { EXPECT_EQ(LookOf(std::vector<double>(20, 1.5)), NoiseLook::kQuiet); }

}  // namespace
}  // namespace gapless::internal
