// SPDX-License-Identifier: Apache-2.0
// Tests the numbers that stand for a run on steps that are made up.
#include "trial/run_sample.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

// Run A came to the evaluation after its sixth step, run B was stopped before it.
TEST(RatioOfTimes, CountsTheStepsThatBothHave) {
  RunSample a{.source = SampleSource::kSteps, .warmup = 5, .step_ns = {10, 10, 10, 10, 10, 900}};
  RunSample b{.source = SampleSource::kSteps, .warmup = 5, .step_ns = {8, 8, 8, 8}};
  EXPECT_DOUBLE_EQ(RatioOfTimes(a, b), 0.8);
  EXPECT_DOUBLE_EQ(RatioOfTimes(b, a), 1.25);
  b.warmup = 7, b.step_ns = {7, 7, 7, 900, 900};  // steps 7 to 9 are in both, without the one that evaluates
  EXPECT_DOUBLE_EQ(RatioOfTimes(a, b), (7 + 7 + 7 + 900) / (10.0 + 10 + 10 + 900));
  b.warmup = 20;  // no step is in both: the means of all
  EXPECT_DOUBLE_EQ(RatioOfTimes(a, b), MeanStepMs(b) / MeanStepMs(a));
  b.warmup = 5, b.step_ns = {8, 8, 8, 8};
  const auto set_samples = [](RunSample& sample, double samples) {
    sample.samples_per_second = samples / MeanStepMs(sample) * 1e3;
  };
  set_samples(a, 32), set_samples(b, 32);
  EXPECT_DOUBLE_EQ(RatioOfTimes(a, b), 0.8);
  set_samples(b, 64);
  EXPECT_DOUBLE_EQ(RatioOfTimes(a, b), *a.samples_per_second / *b.samples_per_second);
}

TEST(SteadyMeanMs, LeavesOutOneEvaluationAndKeepsBunches) {
  EXPECT_DOUBLE_EQ(SteadyMeanMs(std::vector<int64_t>{1'000'000, 1'000'000, 1'000'000, 40'000'000}), 1);
  std::vector<int64_t> bunches;
  for (int i = 0; i < 40; ++i) bunches.push_back(i % 4 == 0 ? 37'000'000 : 1'000'000);
  EXPECT_DOUBLE_EQ(SteadyMeanMs(bunches), 10);
  EXPECT_DOUBLE_EQ(SteadyMeanMs(std::vector<int64_t>{5'000'000}), 5);
  EXPECT_DOUBLE_EQ(SteadyMeanMs({}), 0);
}

}  // namespace
}  // namespace gapless::internal
