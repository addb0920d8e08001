// SPDX-License-Identifier: Apache-2.0
// Tests the comparison of two commands: ratios, losses, throughput, and the end of the pairs.
#include "proof/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "collect/machine.h"
#include "proof/metrics.h"
#include "proof/result_json.h"

namespace gapless::internal {
namespace {

RunSample Steps(std::vector<int64_t> ms, std::vector<double> losses = {}) {
  RunSample sample;
  sample.source = SampleSource::kSteps;
  for (const int64_t m : ms) sample.step_ns.push_back(m * 1'000'000);
  sample.losses = std::move(losses);
  return sample;
}

TEST(Comparison, SpeedupIsTimeOfAOverTimeOfB) {
  Comparison comparison({.margin = 0.01});
  for (int64_t i = 0; i < 12; ++i) comparison.Add(Steps({100 + i, 100 + i}), Steps({50 + i % 3, 50 + i % 3}));
  EXPECT_EQ(comparison.Verdict(), SpeedVerdict::kFaster);
  EXPECT_TRUE(comparison.IsDecided());
  EXPECT_TRUE(comparison.IsSignificant());
  const RatioInterval speedup = comparison.Speedup();
  EXPECT_NEAR(speedup.expected, 2.07, 0.03);
  EXPECT_LT(*speedup.low, speedup.expected);
  EXPECT_GT(*speedup.high, speedup.expected);
  EXPECT_EQ(comparison.Typical(), std::pair(105.5, 51.0));
}

// A rollout, or the wait for a bunch of batches, comes once in several steps; the median step does not see it.
TEST(Comparison, WhatComesOnceInManyStepsCounts) {
  Comparison comparison({.margin = 0.01});
  for (int64_t i = 0; i < 12; ++i) comparison.Add(Steps({10, 10, 10, 370 + i}), Steps({10, 10, 10, 170 + i}));
  EXPECT_EQ(comparison.Verdict(), SpeedVerdict::kFaster);
  EXPECT_NEAR(comparison.Speedup().expected, 2, 0.1);
}

// A step with twice the samples that takes as long is twice as fast.
TEST(Comparison, TheTimeOfASampleCountsWhereItIsKnown) {
  Comparison comparison({.margin = 0.01});
  for (int64_t i = 0; i < 12; ++i) {
    RunSample a = Steps({100 + i}), b = Steps({100 + i});
    a.samples_per_second = 320 + static_cast<double>(i % 3);
    b.samples_per_second = 640 + static_cast<double>(i % 5);
    comparison.Add(std::move(a), std::move(b));
  }
  EXPECT_NEAR(comparison.Speedup().expected, 2, 0.1);
}

TEST(Comparison, MoreMayBeBetter) {
  Comparison comparison({.margin = 0.01}, true);
  for (int64_t i = 0; i < 12; ++i) comparison.Add(Steps({100 + i}), Steps({200 + i}));
  EXPECT_EQ(comparison.Verdict(), SpeedVerdict::kFaster);
}

TEST(Comparison, SaysHowFarLossesLieApart) {
  Comparison comparison({});
  comparison.Add(Steps({1}, {1, 0.5, 0.25}), Steps({1}, {1, 0.5, 0.25}));
  ASSERT_TRUE(comparison.Losses());
  EXPECT_EQ(comparison.Losses()->max_difference, 0);
  EXPECT_FALSE(comparison.Losses()->spread);
  comparison.Add(Steps({1}, {1, 0.5, 0.26}), Steps({1}, {1, 0.5, 0.3}));
  EXPECT_NEAR(*comparison.Losses()->spread, 0.01, 1e-12);
  EXPECT_NEAR(comparison.Losses()->max_difference, 0.04, 1e-12);
  EXPECT_EQ(comparison.Losses()->steps, 3u);
  EXPECT_FALSE(comparison.training()) << "nobody asked whether it is the same training";
}

TEST(Comparison, ALossThatIsNoNumberOnOneSideDiffersWithoutBound) {
  Comparison comparison({});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  comparison.Add(Steps({1}, {1, 0.5}), Steps({1}, {1, nan}));
  ASSERT_TRUE(comparison.Losses());
  EXPECT_EQ(comparison.Losses()->max_difference, std::numeric_limits<double>::infinity());
}

TEST(Comparison, WithoutLossesNothingIsSaidOfThem) {
  Comparison comparison({});
  comparison.Add(Steps({1}), Steps({1}));
  EXPECT_FALSE(comparison.Losses());
}

RunRequest Prints(const std::string& text) {
  RunRequest request{.command = {"/bin/sh", "-c", "echo took " + text}};
  request.pattern = "took ([0-9.]+)";
  request.telemetry_hz = 0;
  return request;
}

TEST(RunPairs, StopsWhenItIsEnough) {
  Comparison comparison({});
  const PairPlan plan{.a = Prints("10"), .b = Prints("5"), .most_pairs = 9, .seed = 1};
  ASSERT_TRUE(RunPairs(plan, comparison, [&] { return comparison.pairs() < 3; }));
  EXPECT_EQ(comparison.pairs(), 3u);
  EXPECT_EQ(comparison.sequence().log_ratios()[0], std::log(0.5));
}

TEST(RunPairs, AFailureEndsIt) {
  Comparison comparison({});
  PairPlan plan{.a = Prints("10"), .b = {.command = {"/bin/sh", "-c", "echo broken; exit 3"}}};
  const auto done = RunPairs(plan, comparison, [] { return true; });
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().ToString().find("broken"), std::string::npos);
  plan.b.command = {"/bin/true"};  // measured as a whole process, A by its pattern
  EXPECT_FALSE(RunPairs(plan, comparison, [] { return true; }));
}

TEST(Metrics, OfSeveralProcessesAreOfAllTheirSteps) {
  const auto metrics = MetricsOf({Steps({10, 20}), Steps({30, 40})});
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->step_time_ms, 25);
  EXPECT_EQ(metrics->step_time_p50_ms, 25);
  EXPECT_NEAR(*metrics->step_time_std_ms, 12.909944, 1e-6);
  EXPECT_FALSE(metrics->samples_per_second || metrics->gpu_utilization || metrics->memory_usage_gb);
  EXPECT_FALSE(MetricsOf({}));
}

TEST(Metrics, GoIntoTheHistoryAsTheyAre) {
  RunSample sample = Steps({10, 20, 30});
  sample.samples_per_second = 1600;
  sample.host.cpu = "one processor";
  const auto record = RecordOf({sample}, {"python", "train.py"});
  ASSERT_TRUE(record) << record.error().ToString();
  ASSERT_NE(record->Find("samples_per_second"), nullptr);
  EXPECT_EQ(record->Find("samples_per_second")->value, 1600);
  EXPECT_EQ(record->Find("step_time_p50_ms")->value, 20);
  EXPECT_EQ(record->command, "python train.py");
  EXPECT_EQ(record->fingerprint, FingerprintOf(sample.host));
}

TEST(Metrics, MachinesOfOneKindHaveOneFingerprint) {
  HostFacts one, other;
  one.cpu = other.cpu = "a processor";
  one.name = "a", other.name = "b";
  one.memory_bytes = 1;  // differs a little between boots
  EXPECT_EQ(FingerprintOf(one), FingerprintOf(other));
  other.gpus.push_back({.model = "a GPU", .uuid = {}, .bus_id = {}});
  EXPECT_NE(FingerprintOf(one), FingerprintOf(other));
}

}  // namespace
}  // namespace gapless::internal
