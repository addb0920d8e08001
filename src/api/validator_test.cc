// SPDX-License-Identifier: Apache-2.0
// Tests the public Validator with shell commands that print their time in place of a training.
#include "gapless/validator.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless {
namespace {

using internal::StrCat;

std::vector<std::string> Prints(double ms) { return {"/bin/sh", "-c", StrCat("echo took ", ms, " ms")}; }

CompareOptions Quick() {
  CompareOptions options;
  options.measure.pattern = "took ([0-9.]+)";
  options.seed = 1;
  return options;
}

class ValidatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = internal::TemporaryFolder::Make();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    db_ = StrCat("sqlite:", folder_->path(), "/perf.db");
  }
  std::optional<internal::TemporaryFolder> folder_;
  std::string db_;
};

TEST_F(ValidatorTest, AFasterCommandIsAccepted) {
  PerformanceValidator validator(db_);
  const auto report = validator.ValidateOptimization(Prints(10), Prints(8), "c1", Quick());
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_TRUE(report->accepted);
  EXPECT_EQ(report->comparison.verdict, SpeedVerdict::kFaster);
  EXPECT_NEAR(report->comparison.speedup.expected, 1.25, 1e-9);
  EXPECT_LE(report->comparison.p_value, 0.05);
  EXPECT_EQ(report->comparison.optimized_metrics.step_time_ms, 8);
  EXPECT_FALSE(report->comparison.loss_parity);  // none was printed
  EXPECT_EQ(report->recorded_run, 1);
  EXPECT_FALSE(report->regression.regression_detected);
}

TEST_F(ValidatorTest, ASlowerOneIsNotAndItIsSaidWhy) {
  PerformanceValidator validator(db_);
  const auto report = validator.ValidateOptimization(Prints(10), Prints(12), "c1", Quick());
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_FALSE(report->accepted);
  EXPECT_EQ(report->reasons_against, std::vector<std::string>{"it is slower"});
}

TEST_F(ValidatorTest, WhatIsFasterThanTheBaselineMayStillBeARegression) {
  RegressionDetector detector(db_);
  for (int i = 0; i < 20; ++i) {
    PerformanceMetrics metrics{.step_time_ms = 5 + 0.01 * (i % 3)};
    metrics.step_time_p50_ms = metrics.step_time_ms;
    ASSERT_TRUE(detector.RecordBenchmark(StrCat("c", i), "main", metrics));
  }
  PerformanceValidator validator(db_);
  const auto report = validator.ValidateOptimization(Prints(10), Prints(8), "c20", Quick());
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_FALSE(report->accepted);
  EXPECT_FALSE(report->regression.regression_detected) << "processes of one job are one sample of its machine";
  EXPECT_TRUE(report->regression.alarm_pending);
  EXPECT_EQ(report->regression.likely_culprit_commit, "");
  EXPECT_LT(*report->regression.performance_delta, -30);
}

TEST_F(ValidatorTest, ThroughputOfABranchIsRemembered) {
  RegressionDetector detector(db_);
  const BenchmarkMetadata metadata{.benchmark = "resnet", .gpu_type = "a GPU", .num_gpus = 2, .batch_size = 32};
  for (int i = 0; i < 20; ++i) {
    const PerformanceMetrics metrics{.samples_per_second = 100 + 0.2 * (i % 5), .step_time_ms = 10};
    ASSERT_TRUE(detector.RecordBenchmark(StrCat("c", i), "main", metrics, metadata));
  }
  const auto fine = detector.DetectRegression({.samples_per_second = 100.3}, "main", 0.05, metadata);
  ASSERT_TRUE(fine) << fine.error().ToString();
  EXPECT_FALSE(fine->regression_detected);
  const auto first = detector.DetectRegression({.samples_per_second = 90}, "main", 0.05, metadata);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->regression_detected) << "one slow run is no proof";
  EXPECT_TRUE(first->alarm_pending);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(detector.RecordBenchmark(StrCat("slow", i), "main", {.samples_per_second = 90 + 0.1 * i}, metadata));
  const auto slower = detector.DetectRegression({.samples_per_second = 90}, "main", 0.05, metadata);
  ASSERT_TRUE(slower);
  EXPECT_TRUE(slower->regression_detected);
  EXPECT_EQ(slower->likely_culprit_commit, "slow0");
  EXPECT_EQ(slower->current_samples_per_sec, 90);
  EXPECT_NEAR(*slower->baseline_samples_per_sec, 100.4, 0.1);
  EXPECT_NEAR(*slower->performance_delta, -10.4, 0.1);
  // Another number of GPUs has another level.
  const auto other = detector.DetectRegression({.samples_per_second = 90}, "main", 0.05,
                                               {.benchmark = "resnet", .gpu_type = "a GPU", .num_gpus = 1});
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->regression_detected);
}

TEST_F(ValidatorTest, WhatCannotBeMeasuredIsAnError) {
  EXPECT_EQ(PerformanceBenchmark::BenchmarkTraining({}).error().code, ErrorCode::kUsage);
  const auto failed = PerformanceBenchmark::BenchmarkTraining({"/bin/sh", "-c", "echo out of memory; exit 3"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kCommand);
  EXPECT_NE(failed.error().ToString().find("out of memory"), std::string::npos);
  EXPECT_FALSE(ABTestValidator::CompareConfigurations(Prints(1), {}));
  RegressionDetector detector(db_);
  EXPECT_FALSE(detector.RecordBenchmark("c", "main", {}));
  EXPECT_FALSE(detector.DetectRegression({}));
}

TEST_F(ValidatorTest, RanksStandInTheCommand) {
  const int counts[] = {1, 2};
  const auto found = PerformanceBenchmark::BenchmarkMultiGpuScaling({"/bin/true"}, counts);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUsage);
  const int down[] = {2, 1};
  EXPECT_FALSE(PerformanceBenchmark::BenchmarkMultiGpuScaling({"/bin/true", "{n}"}, down));
}

}  // namespace
}  // namespace gapless
